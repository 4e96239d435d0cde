-- dead_take.lua: removes dead letters; a requeued one goes to ingress again as it was sent, and its id is forgotten.
-- KEYS: 1 dead (stream) 2 ingress (stream) 3.. done, every bucket (set)
-- ARGV: 1 "1" to requeue; from 2: entries
-- Returns: how many were there
-- Errors: none of its own
local taken = 0
for i = 2, #ARGV do
  local entry = redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i])[1]
  if entry then
    local fields = {}
    for at = 1, #entry[2], 2 do
      fields[entry[2][at]] = entry[2][at + 1]
    end
    if ARGV[1] == '1' then
      local read, letter = pcall(cjson.decode, fields.letter or '')
      for bucket = 3, #KEYS do
        if read and letter.id then
          redis.call('SREM', KEYS[bucket], letter.id)
        end
      end
      redis.call('XADD', KEYS[2], '*', 'task', fields.task or '')
    end
    -- Last: a full store refuses the command above, and the letter must still be there then.
    taken = taken + redis.call('XDEL', KEYS[1], ARGV[i])
  end
end
return taken
