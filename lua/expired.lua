-- expired.lua: names deliveries whose attempt lease has run out; frees those whose entry somebody deleted.
-- KEYS: 1 execution (stream) 2 counters (hash)
-- ARGV: 1 group 2 least idle in ms 3 most
-- Returns: for each, the entry's id, its fields, and the worker that held it
-- Errors: none of its own
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[2], '-', '+', ARGV[3])
local found = {}
if pending.err then
  return found
end
for _, held in ipairs(pending) do
  local entry = redis.call('XRANGE', KEYS[1], held[1], held[1])[1]
  if entry then
    found[#found + 1] = { entry[1], entry[2], held[2] }
  elseif redis.call('XACK', KEYS[1], ARGV[1], held[1]) == 1 then
    redis.call('HINCRBY', KEYS[2], 'freed', 1)
  end
end
return found
