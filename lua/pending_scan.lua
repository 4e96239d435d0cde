-- pending_scan.lua: reads pending in its order, strictly after a rank even if that rank is gone; writes nothing.
-- KEYS: 1 pending (zset)
-- ARGV: 1 score 2 member, or empty to start at the front 3 most
-- Returns: member and score, alternating
-- Errors: none of its own

-- Byte order: Lua's own `<` follows the server's locale.
local function not_after(a, b)
  local common = math.min(#a, #b)
  for at = 1, common do
    local x, y = string.byte(a, at), string.byte(b, at)
    if x ~= y then
      return x < y
    end
  end
  return #a <= #b
end

local from = 0
if ARGV[2] ~= '' then
  local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
  if score and tonumber(score) == tonumber(ARGV[1]) then
    from = redis.call('ZRANK', KEYS[1], ARGV[2]) + 1
  else
    from = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
    local to = from + redis.call('ZCOUNT', KEYS[1], ARGV[1], ARGV[1])
    while from < to do
      local middle = math.floor((from + to) / 2)
      if not_after(redis.call('ZRANGE', KEYS[1], middle, middle)[1], ARGV[2]) then
        from = middle + 1
      else
        to = middle
      end
    end
  end
end
return redis.call('ZRANGE', KEYS[1], from, from + tonumber(ARGV[3]) - 1, 'WITHSCORES')
