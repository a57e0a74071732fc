// The world that the tests of agents look at: messages that were routed, agents of every kind, tasks
// on every column, a client with a design, hostile words in every field, and a model that is played.
import { createServer, type Server } from "node:http";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { World } from "./world";

export const EVIL = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';

/** What the model answers; every piece is one word. */
export const ANSWER = "The **Second War** began six years after the fall of `Stormwind`.";

const SEED = {
  clients: [{ client_id: "6", client_type: "shop" }],
  designs: [{ client_id: "6", header_design: { Layout: "classic" }, button_design: { radius: "small", style: "solid" }, card_design: { style: "stroked", radius: "medium" } }],
  components: [
    { component_id: "101", client_id: "6", component_type: "cards", props: { title: "Home" } },
    { component_id: "102", client_id: "6", component_type: "cards", props: { title: EVIL } },
    { component_id: "103", client_id: "6", component_type: "buttons", props: { caption: "Login" } },
  ],
};

/** A workspace in which nothing happened yet. */
export async function fresh(): Promise<World> {
  const world = new World();
  world.cleo("init");
  await world.serve();
  return world;
}

export class Agency extends World {
  private model: Server | null = null;
  /** How long the model waits between two words, in milliseconds. */
  pace = 5;
  /** Whether the model refuses what it is asked. */
  refuses = false;

  override async end() {
    this.model?.close();
    await super.end();
  }

  /** A model on this machine, which answers word by word. */
  async plays() {
    const model = createServer((request, response) => {
      request.resume();
      if (this.refuses) {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "the played model refuses" } }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      const put = (delta: unknown, finish: string | null) => response.write(`data: ${JSON.stringify({ model: "played-1", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
      const words = ANSWER.split(/(?<= )/);
      const next = () => {
        const word = words.shift();
        if (word !== undefined) {
          put({ content: word }, null);
          setTimeout(next, this.pace);
        } else {
          put({}, "stop");
          response.end("data: [DONE]\n\n");
        }
      };
      next();
    });
    await new Promise<void>((ready) => model.listen(0, "127.0.0.1", ready));
    this.model = model;
    this.cleo("config", "set", "llm.provider", "openai-chat");
    this.cleo("config", "set", "llm.baseUrl", `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`);
    this.cleo("config", "set", "llm.model", "played-1");
  }
}

export async function agency(): Promise<Agency> {
  const world = new Agency();
  world.cleo("init");
  for (const message of ["Explain the Second War in Warcraft history.", "Help me design a creative layout for my blog.", "Solve 2x + 5 = 15 and explain the steps.", "zzzz qqqq", `${EVIL} history`])
    world.tries("agents", "execute", message);
  world.cleo("agents", "register", "Billing helper", "--tag", "invoice,billing", "--prompt", "You know invoices.");
  world.cleo("agents", "update", "billing-helper", "--status", "paused");
  world.cleo("agents", "register", EVIL, "--id", "evil", "--tag", `xss,${EVIL.slice(0, 40)}`, "--description", EVIL, "--prompt", EVIL);
  world.cleo("agents", "register", "--runtime", "Try-out", "--tag", "trial", "--prompt", "Answer in one line.");
  const tasks: string[][] = [
    ["Fix onboarding", "--agent", "toby-technical", "--priority", "urgent", "--due", "2026-01-02"],
    ["Palette contrast", "--agent", "ami-creative", "--priority", "high", "--estimate", "2"],
    ["Write refund mail", "--agent", "ami-creative"],
    [EVIL, "--agent", "evil", "--description", EVIL],
    ["Estimate fees", "--priority", "low"],
  ];
  for (const words of tasks) world.cleo("add", ...words);
  world.cleo("update", "T2", "--status", "review");
  world.cleo("start", "T3");
  world.cleo("spawn", "T3");
  const seed = join(world.folder, "seed.json");
  writeFileSync(seed, JSON.stringify(SEED));
  world.cleo("chat", "seed", seed);
  await world.plays();
  await world.serve();
  // Not by a command: the model is played by this very process, which would wait for it.
  await fetch(`${world.address}/api/agents/execute?wait=true`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ input: "Explain the data of the war" }) });
  return world;
}
