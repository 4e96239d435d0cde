-- promote.lua: moves delayed tasks whose time has come to pending, at their rank.
-- KEYS: 1 fence (string) 2 delayed (zset) 3 pending (zset)
-- ARGV: 1 epoch 2 now in µs 3 most
-- Returns: the texts (score 0x1e member) that are pending now, and when the next one is due, or an empty string
-- Errors: TQ_FENCED epoch fence
local refused = fenced(KEYS[1], ARGV[1])
if refused then
  return refused
end
local promoted = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
for _, text in ipairs(promoted) do
  local cut = string.find(text, '\30', 1, true)
  local score = cut and tonumber(string.sub(text, 1, cut - 1))
  if score then
    redis.call('ZADD', KEYS[3], string.sub(text, 1, cut - 1), string.sub(text, cut + 1))
  end
  redis.call('ZREM', KEYS[2], text)
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return { promoted, first[2] or '' }
