-- Sounds by path; a sound that is far away is quieter, and duller below a hall's roof.
local sound = { volume = 1, playing = {} }

function sound.play(path, distance)
  local loud = sound.volume / (1 + (distance or 0) * 0.35)
  if loud > 0.02 then device.play(path, loud) end
end

function sound.loop(path)
  sound.playing[path] = device.loop(path, sound.volume * 0.5)
end

function sound.stop(path)
  if sound.playing[path] then
    device.stop(sound.playing[path])
    sound.playing[path] = nil
  end
end

return sound
