-- Sends the requests of a file one after another, over and over: choosing and putting them together is done before.
local requests = {}
local next = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("([^%z]+)%z") do
    requests[#requests + 1] = request
  end
  file:close()
end

function request()
  next = next % #requests + 1
  return requests[next]
end
