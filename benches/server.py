"""Puts load on `cleo serve` and prints what it took. Called by scripts/bench-server."""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

LISTENERS = 500


def main():
    cleo, script, seconds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOME=folder, XDG_DATA_HOME=folder + "/data")
        for name in list(environment):
            if name.startswith("CLEO_"):
                del environment[name]
        subprocess.run([cleo, "init"], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        plan(folder)
        subprocess.run([cleo, "add", "--batch", "plan.jsonl"], cwd=folder, env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        server = subprocess.Popen([cleo, "serve", "--port", "0", "--json"], cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, text=True)
        try:
            told = json.loads(server.stdout.readline())["result"]["server"]
            measure(told["url"], told["address"], told["pid"], script, seconds)
        finally:
            server.terminate()
            server.wait(60)


def plan(folder):
    """A thousand tasks in ten parts, each after two earlier ones."""
    lines = [{"title": "Everything", "type": "epic", "key": "e"}]
    lines += [{"title": f"Part {part}", "key": f"p{part}", "parent": "@e"} for part in range(10)]
    for number in range(1000):
        needs = [f"@t{number - back}" for back in (37, 53) if number >= back]
        lines.append({"title": f"Do thing {number}", "key": f"t{number}", "parent": f"@p{number % 10}",
                      "depends": needs})
    with open(folder + "/plan.jsonl", "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def measure(url, address, pid, script, seconds):
    print(f"{'':44}{'a second':>10}{'p50 ms':>9}{'p99 ms':>9}{'failed':>8}{'RSS MB':>8}")
    message = "Explain the Second War in Warcraft history."
    row("POST /api/route", load(url, "/api/route", {"message": message}, 32, script, seconds), pid)
    execute = {"input": message}
    before = total(url)
    told = load(url, "/api/agents/execute", execute, 32, script, seconds)
    row("POST /api/agents/execute (offline agent)", told, pid)
    kept = settled(url) - before
    print(f"    acknowledged {told['good']}, kept {kept}")
    listeners, witness = Listeners(address), Witness(address)
    before = total(url)
    told = load(url, "/api/agents/execute", execute, 32, script, seconds)
    row(f"the same with {LISTENERS} listeners", told, pid)
    fewer = load(url, "/api/agents/execute", execute, 8, script, seconds)
    row("the same over 8 connections", fewer, pid)
    told["good"] += fewer["good"]
    kept = settled(url) - before
    heard = witness.heard(kept)
    print(f"    acknowledged {told['good']}, kept {kept}, ends heard by each {heard};"
          f" listeners still there: {listeners.alive()}, {listeners.bytes / 1e6:.0f} MB read")
    missing = kept < told["good"] or heard < kept
    told = load(url, "/api/route", {"message": message}, 32, script, seconds)
    row(f"POST /api/route with {LISTENERS} listeners", told, pid)
    listeners.close()
    row("GET /api/work/graph (1,000 tasks)", load(url, "/api/work/graph", None, 4, script, seconds), pid)
    row("GET /api/work/tasks/T500", load(url, "/api/work/tasks/T500", None, 4, script, seconds), pid)
    row("GET /health", load(url, "/health", None, 32, script, seconds), pid)
    if missing:
        sys.exit("acknowledged executions are missing")


def load(url, path, body, connections, script, seconds):
    environment = dict(os.environ, METHOD="POST" if body else "GET", BODY=json.dumps(body) if body else "")
    words = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", script, url + path]
    output = subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    return json.loads(line[len("RESULT "):])


def row(name, told, pid):
    with open(f"/proc/{pid}/status") as status:
        rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024
    failed = told["bad"] + told["errors"]
    print(f"{name:44}{told['perSecond']:>10.0f}{told['p50']:>9.2f}{told['p99']:>9.2f}{failed:>8}{rss:>8.0f}",
          flush=True)


def total(url, status=""):
    with urllib.request.urlopen(f"{url}/api/agents/execute?limit=1{status}") as answer:
        return json.load(answer)["total"]


def settled(url):
    """Waits until nothing is under way, and counts."""
    deadline = time.time() + 120
    while total(url, "&status=running") and time.time() < deadline:
        time.sleep(0.2)
    return total(url)


class Witness:
    """A listener that gets the same events as the others and counts the executions that ended."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address)
        self.connection.request("GET", "/api/events?since=now")
        self.answer, self.ends = self.connection.getresponse(), 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while data := self.answer.read1(1 << 18):
            text = rest + data
            whole, _, rest = text.rpartition(b"\n\n")
            self.ends += whole.count(b'"type":"execution_end"')

    def heard(self, expected):
        deadline = time.time() + 10
        while self.ends < expected and time.time() < deadline:
            time.sleep(0.1)
        return self.ends


class Listeners:
    """Readers of the stream of events, in threads that share the work."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.sockets, self.bytes, self.ended = [], 0, 0
        for number in range(LISTENERS):
            # One address has at most 256 connections.
            source = (f"127.0.0.{2 + number // 250}", 0)
            stream = socket.create_connection((host, int(port)), source_address=source)
            head = f"GET /api/events?since=now HTTP/1.1\r\nhost: {address}\r\n\r\n"
            stream.sendall(head.encode())
            self.sockets.append(stream)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.stop = False
        self.thread.start()

    def read(self):
        import selectors

        selector = selectors.DefaultSelector()
        for stream in self.sockets:
            stream.setblocking(False)
            selector.register(stream, selectors.EVENT_READ)
        while not self.stop:
            for key, _ in selector.select(0.2):
                data = key.fileobj.recv(1 << 18)
                self.bytes += len(data)
                if not data:
                    selector.unregister(key.fileobj)
                    self.ended += 1

    def alive(self):
        return LISTENERS - self.ended

    def close(self):
        self.stop = True
        self.thread.join()
        for stream in self.sockets:
            stream.close()


if __name__ == "__main__":
    main()
