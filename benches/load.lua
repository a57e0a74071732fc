-- What wrk sends: the body of the variable BODY, and what it tells at the end: one line of JSON.
wrk.method = os.getenv("METHOD") or "POST"
wrk.body = os.getenv("BODY")
wrk.headers["Content-Type"] = "application/json"

local threads = {}
function setup(thread)
   table.insert(threads, thread)
end

function init()
   good, bad = 0, 0
end

function response(status)
   if status >= 200 and status < 300 then good = good + 1 else bad = bad + 1 end
end

function done(summary, latency)
   local good, bad = 0, 0
   for _, thread in ipairs(threads) do
      good, bad = good + thread:get("good"), bad + thread:get("bad")
   end
   local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
   io.write(string.format(
      '\nRESULT {"good":%d,"bad":%d,"errors":%d,"perSecond":%.0f,"p50":%.2f,"p99":%.2f,"max":%.2f}\n',
      good, bad, errors, good / (summary.duration / 1e6), latency:percentile(50) / 1000,
      latency:percentile(99) / 1000, latency.max / 1000))
end
