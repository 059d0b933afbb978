-- Bats fly from light to dark, in a bunch, and put out small lamps on the way.
local bats = { list = {} }

local function towards_dark(bat, light_at)
  local best, least = nil, light_at(bat.x, bat.y)
  for _, d in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local light = light_at(bat.x + d[1], bat.y + d[2])
    if light < least then best, least = d, light end
  end
  return best
end

function bats.step(light_at, lamp)
  for _, bat in ipairs(bats.list) do
    local d = towards_dark(bat, light_at)
    if d then
      bat.x, bat.y = bat.x + d[1], bat.y + d[2]
    elseif lamp.kind == 'tin' and light_at(bat.x, bat.y) > 0.5 then
      lamp.brightness = math.max(0.2, lamp.brightness - 0.1)
    end
  end
end

return bats
