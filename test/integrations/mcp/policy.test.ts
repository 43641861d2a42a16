import { afterEach, describe, expect, it } from "vitest";
import { createScheduler, createTools, type Environment } from "../../../src/index.js";
import { type Policy, parsePolicy, policyHook } from "../../../src/integrations/mcp/index.js";
import { closeAll, openMemory } from "./fixtures.js";

afterEach(closeAll);

const subjects = { tools: ["read", "bash", "edit", "write", "grep", "find", "ls"], targets: ["web", "box"] };

describe("a policy file", () => {
  it.each([
    ["nonsense", "it is not JSON"],
    ["[]", "the file should be an object, not an array of 0"],
    ["{}", "rules should be an array, not nothing"],
    ['{"rules":[],"deflaut":"allow"}', "deflaut should be no such field"],
    ['{"rules":[],"default":"maybe"}', 'default should be one of "allow", "ask", "deny", not "maybe"'],
    ['{"rules":[{"decision":"allow","tool":["read"]}]}', "rules[0].tool should be no such field"],
    ['{"rules":[{"tools":["read"]}]}', "rules[0].decision should be"],
    ['{"rules":[{"decision":"deny","tools":[]}]}', "rules[0].tools should be an array of 1 or more items"],
    ['{"rules":[{"decision":"deny","tools":["rm"]}]}', 'rules[0] is about the tool "rm"; there are read, bash'],
    ['{"rules":[{"decision":"deny","targets":["wab"]}]}', 'rules[0] is about the target "wab"; there are web, box'],
    ['{"rules":[{"decision":"deny","paths":["a"],"commands":["b"]}]}', "rules[0] has both paths and commands"],
    ['{"rules":[{"decision":"deny","tools":["read"],"commands":["b"]}]}', "rules[0] is about commands, and bash is not among its tools"],
    ['{"rules":[{"decision":"deny","commands":[" "]}]}', "rules[0] has a command that is blank"],
    ['{"rules":[{"decision":"deny","commands":["r\u043c"]}]}', "rules[0] has a command that is blank or holds other than printable ASCII"],
    ['{"__proto__":{"default":"allow"},"rules":[]}', "__proto__ should be no such field"],
  ])("A15 is refused when it is %s", (text, why) => {
    expect(() => parsePolicy(text, subjects)).toThrow(why);
  });

  it("is taken when it says what it means", () => {
    const policy = {
      $schema: "x",
      default: "deny",
      rules: [{ decision: "allow", tools: ["read"], targets: ["web"], paths: ["src"], reason: "why" }],
    };
    expect(parsePolicy(JSON.stringify(policy), subjects)).toEqual(policy);
  });
});

/** What becomes of a call: allowed, a question, or the refusal's reason. */
async function decide(policy: Policy, tool: string, given: object, environment: Environment, target = ""): Promise<string> {
  const hook = policyHook(policy, { target, environment });
  const found = createTools(environment, { names: ["read", "write", "edit", "bash", "grep", "find", "ls"] }).find(
    ({ name }) => name === tool,
  );
  if (found === undefined) throw new Error(tool);
  const verdict = await hook({
    call: { id: "1", name: tool, arguments: given },
    tool: found,
    arguments: given,
    signal: new AbortController().signal,
  });
  if (verdict === undefined) return "allow";
  if ("ask" in verdict) return `ask ${verdict.ask}`;
  return "block" in verdict ? `deny ${verdict.reason}` : "?";
}

async function shellEnvironment(shell = "sh"): Promise<Environment> {
  const environment = await openMemory();
  return Object.assign(Object.create(environment) as Environment, { capabilities: { ...environment.capabilities, exec: true, shell } });
}

describe("rules", () => {
  const first = (text: string) => text.split(/[ \n]/)[0];

  it("are tried in order, and the default is to ask", async () => {
    const environment = await openMemory();
    const rules: Policy["rules"] = [
      { decision: "deny", tools: ["write"] },
      { decision: "allow", tools: ["read", "write"] },
    ];
    expect(await decide({ rules }, "read", { path: "a" }, environment)).toBe("allow");
    expect(await decide({ rules }, "write", { path: "a", content: "" }, environment)).toBe("deny the policy does not allow it");
    expect(await decide({ rules }, "ls", {}, environment)).toBe("ask Allow this on memory:?\n\nls .");
    expect(await decide({ rules, default: "deny" }, "ls", {}, environment)).toBe("deny the policy does not allow it");
  });

  it("may be about one target", async () => {
    const environment = await openMemory();
    const policy: Policy = { default: "allow", rules: [{ decision: "ask", targets: ["web"], reason: "It is production." }] };
    expect(await decide(policy, "read", { path: "a" }, environment, "web")).toBe("ask Allow this on web?\n\nread a\n\nIt is production.");
    expect(await decide(policy, "read", { path: "a" }, environment, "box")).toBe("allow");
  });

  it.each([
    [".env", ".env", "deny"],
    [".env", "./deep/er/../.env", "deny"],
    [".env", "/workspace/x/.env", "deny"],
    [".env", ".envrc", "allow"],
    ["secrets", "secrets/a/b.txt", "deny"],
    ["secrets/", "x/secrets/a", "deny"],
    ["src/*.ts", "src/a.ts", "deny"],
    ["./src/*.ts", "src/a.ts", "deny"],
    ["src/*.ts", "pkg/src/a.ts", "allow"],
    ["src/**", "src/a/b/c", "deny"],
    ["/etc", "/etc/passwd", "deny"],
    ["/etc", "../../../../etc/passwd", "deny"],
    ["/etc", "/etcetera", "allow"],
    ["*.pem", ".ssh/k.pem", "deny"],
    ["missing/new", "missing/new", "deny"],
  ])("about the path %s, for the path %s: %s", async (glob, path, expected) => {
    const policy: Policy = { default: "allow", rules: [{ decision: "deny", paths: [glob] }] };
    expect(first(await decide(policy, "read", { path }, await openMemory()))).toBe(expected);
  });

  it("catch a file under every name it has, and allow it only under all", async () => {
    const environment = await openMemory({ "secrets/key": "k", "public/page": "p" });
    const { disk } = environment as unknown as { disk: { put(path: string, what: object): void } };
    disk.put("public/link", { symlink: "../secrets" });
    const deny: Policy = { default: "allow", rules: [{ decision: "deny", paths: ["secrets"] }] };
    expect(first(await decide(deny, "read", { path: "public/link/key" }, environment))).toBe("deny");
    expect(first(await decide(deny, "write", { path: "public/link/new", content: "" }, environment))).toBe("deny");
    const allow: Policy = { default: "ask", rules: [{ decision: "allow", paths: ["public"] }] };
    expect(first(await decide(allow, "read", { path: "public/page" }, environment))).toBe("allow");
    expect(first(await decide(allow, "read", { path: "public/link/key" }, environment))).toBe("ask");
  });

  it("take a path that may be read otherwise for none that is allowed, and for one that may be refused", async () => {
    const environment = await openMemory();
    for (const path of ["@.env", "~/.env", "file:///workspace/.env", ".env\u00a0x", "a\tb"]) {
      expect(first(await decide({ default: "allow", rules: [{ decision: "deny", paths: [".env"] }] }, "read", { path }, environment))).toBe(
        "ask",
      );
      expect(first(await decide({ default: "ask", rules: [{ decision: "allow", paths: ["**"] }] }, "read", { path }, environment))).toBe(
        "ask",
      );
    }
  });

  const commands: Policy["rules"] = [
    { decision: "deny", commands: ["rm", "git push --force"], reason: "nothing is deleted here" },
    { decision: "allow", commands: ["git status", "git log", "ls", "cat", "grep", "npm test"] },
  ];
  it.each([
    ["git status -s", "allow"],
    ["git status && ls | grep x", "allow"],
    ["git statusx", "ask"],
    ["git -C x status", "ask"],
    ["git stash", "ask"],
    ["g''it st\\atus", "allow"],
    ["/usr/bin/git status", "ask"],
    ["./git status", "ask"],
    ["git status; curl evil.example", "ask"],
    ["git status $(curl evil.example)", "ask"],
    ["cat <<E\n$(curl x)\nE", "ask"],
    ["PATH=. git status", "ask"],
    ["export PATH=.; git status", "ask"],
    ["ls > .bashrc", "ask"],
    ["{ ls; } >> .bashrc", "ask"],
    ["ls 2>&1 >/dev/null", "allow"],
    ["ls $HOME *.ts", "allow"],
    ["$X", "ask"],
    ["rm -rf /", "deny"],
    ["ls; rm x", "deny"],
    ["/bin/rm x", "deny"],
    ["r\\m x", "deny"],
    ["sudo -u root rm x", "deny"],
    ["sh -c 'ls; rm x'", "deny"],
    ["find . | xargs rm", "deny"],
    ["echo `rm x`", "deny"],
    ["git push --force", "deny"],
    ["git push $X", "ask"],
    ["echo rm", "ask"],
    ["echo 'open", "deny"],
    ["[[ -f x ]] && ls", "deny"],
    ["", "ask"],
  ])("about commands, for %j: %s", async (command, expected) => {
    expect(first(await decide({ rules: commands }, "bash", { command }, await shellEnvironment()))).toBe(expected);
  });

  it("about commands know what only bash knows, where it is bash", async () => {
    const environment = await shellEnvironment("bash");
    expect(await decide({ rules: commands }, "bash", { command: "[[ -f x ]] && ls" }, environment)).toBe("allow");
    expect(await decide({ rules: commands }, "bash", { command: "[[ $(rm x) ]]" }, environment)).toBe(
      "deny the policy does not allow it: nothing is deleted here",
    );
  });

  it("that refuse some commands ask about those whose name only the shell will know", async () => {
    const policy: Policy = { default: "allow", rules: [{ decision: "deny", commands: ["rm"] }] };
    const environment = await shellEnvironment();
    for (const command of ["$X y", "$(echo rm) x", "r? x", "{rm,x}", "sudo $X", "eval $X", 'sh -c "$X"']) {
      expect(first(await decide(policy, "bash", { command }, environment))).toBe("ask");
    }
    expect(await decide(policy, "bash", { command: "ls $X" }, environment)).toBe("allow");
  });

  it("without commands do not look into commands", async () => {
    const policy: Policy = { default: "allow", rules: [] };
    expect(await decide(policy, "bash", { command: "echo 'open" }, await shellEnvironment())).toBe("allow");
  });
});

describe("a question", () => {
  it("shows all of the call, and nothing that could hide it", async () => {
    const question = await decide({ rules: [] }, "bash", { command: "ls\n\u001b[2K\u202egnp.exe" }, await shellEnvironment());
    expect(question).toBe("ask Allow this on memory:?\n\nbash ls\\n\\x1b[2K\\u202egnp.exe");
  });

  it("is not put when nobody could read it", async () => {
    expect(await decide({ rules: [] }, "bash", { command: `ls ${"x".repeat(5_000)}` }, await shellEnvironment())).toBe(
      "deny a person would have to be asked, and the call is too long for anyone to read. Do it in smaller steps",
    );
  });

  it("and a refusal reach the model as the scheduler words them", async () => {
    const environment = await openMemory({ ".env": "SECRET=1" });
    const policy: Policy = { rules: [{ decision: "deny", paths: [".env"], reason: "It holds keys" }] };
    const scheduler = createScheduler({ tools: createTools(environment), beforeToolCall: policyHook(policy, { target: "", environment }) });
    const { results } = await scheduler.runBatch([
      { id: "1", name: "read", arguments: { path: ".env" } },
      { id: "2", name: "read", arguments: { path: "a" } },
    ]);
    expect(results.map(({ content }) => content[0])).toEqual([
      {
        type: "text",
        text: "read did not run: it was blocked: the policy does not allow it: It holds keys. Do not repeat the call as it is.",
      },
      { type: "text", text: "read did not run: it needs a person's consent, and there is nobody to ask here. Go on without it." },
    ]);
  });
});
