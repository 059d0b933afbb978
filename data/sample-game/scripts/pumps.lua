-- Three pumps hold back the blind lake. Each that runs lowers it by a step.
local pumps = { running = { false, false, false }, fittings = 0 }

function pumps.repair(number)
  if pumps.fittings < 1 or pumps.running[number] then return false end
  pumps.fittings = pumps.fittings - 1
  pumps.running[number] = true
  return true
end

function pumps.lake_depth()
  local depth = 3
  for _, runs in ipairs(pumps.running) do
    if runs then depth = depth - 1 end
  end
  return depth
end

return pumps
