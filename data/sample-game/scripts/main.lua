-- Lantern Deep: what happens when the game starts.
local lamp = require 'scripts.lamp'
local world = require 'scripts.world'
local sound = require 'scripts.sound'

local game = { level = 1, lit = {} }

function game.start()
  sound.loop 'sounds/music-deep.wav'
  world.load(game.level)
  lamp.fill(world.current['lamp-oil'])
end

function game.step(seconds)
  lamp.burn(seconds)
  if lamp.oil <= 0 then
    sound.play 'sounds/lamp-out.wav'
    return 'dead'
  end
  local post = world.post_near(world.player)
  if post and not game.lit[post.id] then
    game.lit[post.id] = true
    sound.play 'sounds/lamp-lit.wav'
  end
  return 'alive'
end

function game.descend()
  game.level = game.level + 1
  world.load(game.level)
end

return game
