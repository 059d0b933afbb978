-- A level is a text file: a head of "key = value" lines, a blank line, then one row of tiles a line.
local world = { current = nil, player = { x = 2, y = 2 } }

local names = {
  'gatehouse', 'ropeway', 'dripstone-hall', 'old-pumps', 'salt-stairs',
  'blind-lake', 'bat-gallery', 'counting-room', 'ember-shaft', 'the-bottom',
}

function world.load(number)
  local path = string.format('maps/%02d-%s.map', number, names[number])
  local level = { rows = {}, posts = {} }
  local in_head = true
  for line in files.lines(path) do
    if line == '' then
      in_head = false
    elseif in_head then
      local key, value = line:match '^([%w-]+) = (.+)$'
      if key then level[key] = tonumber(value) or value end
    else
      level.rows[#level.rows + 1] = line
      for x in line:gmatch '()L' do
        level.posts[#level.posts + 1] = { id = #level.posts + 1, x = x, y = #level.rows }
      end
    end
  end
  world.current = level
end

function world.is_rock(x, y)
  local row = world.current.rows[y]
  return row == nil or row:sub(x, x) == '#'
end

function world.post_near(where)
  for _, post in ipairs(world.current.posts) do
    if math.abs(post.x - where.x) + math.abs(post.y - where.y) <= 1 then return post end
  end
end

return world
