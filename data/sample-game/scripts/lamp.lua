-- The lamp: oil goes down with time, faster when it is bright.
local lamp = { oil = 0, brightness = 1, kind = 'tin' }

local burn_rate = { tin = 0.4, brass = 0.7, mirror = 0.9 }
local reach = { tin = 4, brass = 6, mirror = 11 }

function lamp.fill(amount)
  lamp.oil = math.min(100, lamp.oil + amount)
end

function lamp.burn(seconds)
  lamp.oil = lamp.oil - seconds * burn_rate[lamp.kind] * lamp.brightness
end

-- How much light falls on a tile at this distance, 0 to 1.
function lamp.light_at(distance)
  local t = 1 - distance / (reach[lamp.kind] * lamp.brightness)
  return t > 0 and t * t or 0
end

return lamp
