-- chunk.lua: passes long slices of ARGV to one command in pieces, since Lua's stack holds about 8,000 values.

local CHUNK = 6000

-- Calls `command key ARGV[from..to]` in pieces and adds up the numbers that it returns.
local function in_pieces(command, key, from, to)
  local sum = 0
  for at = from, to, CHUNK do
    local n = redis.call(command, key, unpack(ARGV, at, math.min(at + CHUNK - 1, to)))
    sum = sum + (tonumber(n) or 0)
  end
  return sum
end

-- Saves policy state: `sets` pairs of field and value from ARGV[from] on, then `removals` fields.
local function save_policy(key, from, sets, removals)
  in_pieces('HSET', key, from, from + 2 * sets - 1)
  in_pieces('HDEL', key, from + 2 * sets, from + 2 * sets + removals - 1)
end
