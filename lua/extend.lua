-- extend.lua: a heartbeat; registers the worker and renews the leases of the attempts that it still owns.
-- KEYS: 1 execution (stream) 2 workers (hash) 3 counters (hash)
-- ARGV: 1 wake channel 2 group 3 worker 4 its beat as JSON; from 5: entries
-- Returns: the entries that it no longer owns
-- Errors: none of its own
local before = redis.call('HGET', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
local known, old = pcall(cjson.decode, before or '')
if not known or old.slots ~= cjson.decode(ARGV[4]).slots then
  redis.call('PUBLISH', ARGV[1], 'workers ' .. redis.call('HINCRBY', KEYS[3], 'worker_changes', 1))
end
local lost = {}
for i = 5, #ARGV do
  local pending = redis.pcall('XPENDING', KEYS[1], ARGV[2], ARGV[i], ARGV[i], 1, ARGV[3])
  if pending.err or #pending == 0 then
    lost[#lost + 1] = ARGV[i]
  else
    redis.call('XCLAIM', KEYS[1], ARGV[2], ARGV[3], 0, ARGV[i], 'JUSTID')
  end
end
return lost
