import type { ContainerInspectInfo } from "dockerode";
import { afterAll, beforeAll, expect, it } from "vitest";
import { auditContainer } from "../../../adapters/docker/audit.js";
import { docker } from "../../../adapters/docker/index.js";
import type { Environment } from "../../../src/contract/target.js";
import { openEnvironment } from "../../../src/environment.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { testLabels, witness } from "./engine-witness.js";

/** What the engine says of the container, or what a command in it says, and what that must look like. */
interface Check {
  readonly id: string;
  readonly what: string;
  readonly ask: ((container: ContainerInspectInfo) => unknown) | string;
  readonly want: RegExp;
}

/** A file of the container's control group, whichever version it is of. */
const controlGroup = (v1: string, v2: string): string => `cat /sys/fs/cgroup/${v1} 2>/dev/null || cat /sys/fs/cgroup/${v2}`;
const mountsOf = ({ Mounts: mounts }: ContainerInspectInfo) => mounts as readonly { Type?: string; Source: string; Propagation?: string }[];

const checks: readonly Check[] = [
  { id: "D01", what: "not privileged", ask: ({ HostConfig }) => HostConfig.Privileged, want: /^false$/ },
  {
    id: "D02",
    what: "all capabilities dropped, effective and bounding",
    ask: 'grep -E "^Cap(Eff|Bnd|Prm|Inh):" /proc/self/status | tr -d "\\n"',
    want: /^(Cap[A-Za-z]+:\s0{16}){4}$/,
  },
  { id: "D03", what: "no new privileges", ask: "grep NoNewPrivs /proc/self/status", want: /1\n$/ },
  { id: "D04", what: "a seccomp filter", ask: "grep ^Seccomp: /proc/self/status", want: /2\n$/ },
  { id: "D05", what: "not root", ask: "id -u", want: /^[1-9]\d*\n$/ },
  { id: "D06", what: "a read-only system", ask: ({ HostConfig }) => HostConfig.ReadonlyRootfs, want: /^true$/ },
  { id: "D07", what: "a limit of processes", ask: controlGroup("pids/pids.max", "pids.max"), want: /^\d+\n$/ },
  { id: "D08", what: "a limit of memory", ask: controlGroup("memory/memory.limit_in_bytes", "memory.max"), want: /^\d{6,15}\n$/ },
  {
    id: "D09",
    what: "no swap beyond it",
    ask: ({ HostConfig: { Memory, MemorySwap } }) => Number(Memory) > 0 && Memory === MemorySwap,
    want: /^true$/,
  },
  { id: "D10", what: "a share of the processors", ask: controlGroup("cpu/cpu.cfs_quota_us", "cpu.max"), want: /^[1-9]\d*( \d+)?\n$/ },
  { id: "D11", what: "no network but lo", ask: "ls /sys/class/net", want: /^lo\n$/ },
  {
    id: "D12",
    what: "no namespace of the host",
    ask: ({ HostConfig: { NetworkMode, PidMode, IpcMode, UTSMode, UsernsMode } }) =>
      `${[NetworkMode, PidMode, IpcMode, UTSMode, UsernsMode]}`.includes("host"),
    want: /^false$/,
  },
  {
    id: "D13",
    what: "no engine socket, no directory of the host",
    ask: (container) => mountsOf(container).filter(({ Type }) => Type === "bind").length,
    want: /^0$/,
  },
  {
    id: "D14",
    what: "no devices",
    ask: ({ HostConfig: { Devices, DeviceCgroupRules } }) => `${(Devices ?? []).length} ${(DeviceCgroupRules ?? []).length}`,
    want: /^0 0$/,
  },
  {
    id: "D15",
    what: "paths in /proc masked and read-only",
    ask: ({ HostConfig: { MaskedPaths, ReadonlyPaths } }) => `${MaskedPaths?.length} ${ReadonlyPaths?.length}`,
    want: /^1?\d [4-9]$/,
  },
  { id: "D16", what: "a main process that reaps", ask: "cat /proc/1/comm", want: /^(docker-init|tini)\n$/ },
  { id: "D17", what: "limits of open files, core dumps and file size", ask: "ulimit -n; ulimit -c; ulimit -f", want: /^\d+\n0\n\d+\n$/ },
  { id: "D18", what: "no automatic restart", ask: ({ HostConfig }) => HostConfig.RestartPolicy?.Name, want: /^(no)?$/ },
  { id: "D19", what: "no unbounded log", ask: ({ HostConfig }) => HostConfig.LogConfig?.Type, want: /^(none|local)$/ },
  {
    id: "D20",
    what: "mounts not propagated",
    ask: (container) => mountsOf(container).filter(({ Propagation }) => /shared|slave/.test(Propagation ?? "")).length,
    want: /^0$/,
  },
  { id: "D21", what: "user namespaces refused", ask: "unshare -U true >/dev/null 2>&1; echo $?", want: /^[1-9]/ },
  { id: "D22", what: "mounting refused", ask: "mount -t tmpfs x /tmp >/dev/null 2>&1; echo $?", want: /^[1-9]/ },
  { id: "D23", what: "core_pattern not writable", ask: "(echo x > /proc/sys/kernel/core_pattern) 2>/dev/null; echo $?", want: /^[1-9]/ },
  { id: "D24", what: "no setuid files", ask: "find / -xdev -perm -4000 -type f 2>/dev/null | wc -l", want: /^0\n$/ },
  {
    id: "D25",
    what: "writable mounts nosuid and nodev",
    ask: "mount | grep -E ' on /(tmp|work|home)' | grep -vcE 'nosuid.*nodev|nodev.*nosuid'",
    want: /^0\n$/,
  },
  {
    id: "D26",
    what: "the metadata address out of reach",
    ask: "timeout 2 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80' 2>/dev/null; echo $?",
    want: /^[1-9]/,
  },
  { id: "D27", what: "no route", ask: "tail -n +2 /proc/net/route | wc -l", want: /^0\n$/ },
  {
    id: "D28",
    what: "nothing like a secret in its variables",
    ask: ({ Config }) => Config.Env.filter((each) => /secret|token|passw|api_?key|private/i.test(each)).length,
    want: /^0$/,
  },
  { id: "D29", what: "made from an image's id", ask: ({ Config }) => Config.Image, want: /^sha256:[0-9a-f]{64}$/ },
  {
    id: "D30",
    what: "labels that say whose it is",
    ask: ({ Config }) => `${Config.Labels["glovebox.instance"]} ${Config.Labels["glovebox.owner"]}`,
    want: /^[0-9a-f-]{36} [^: ]+:[0-9a-f-]{36}:\d+:\d+:\d+$/,
  },
];

describeTarget("docker", "a new container passes", () => {
  let environment: Environment & { readonly containerId: string };
  let container: ContainerInspectInfo;

  beforeAll(async () => {
    environment = await openEnvironment(docker({ labels: testLabels() }));
    container = await engineClient().getContainer(environment.containerId).inspect();
  });
  afterAll(async () => {
    await environment?.close();
  });

  it.each(checks)("$id $what", async ({ ask, want }) => {
    const answer = typeof ask === "string" ? await witness(container.Id, ask) : String(ask(container));
    expect(answer).toMatch(want);
  });

  it("all thirty, and commands run under the same terms", async () => {
    expect(checks.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, index) => `D${String(index + 1).padStart(2, "0")}`));
    let output = "";
    await environment.exec(
      'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; touch /x 2>/dev/null || echo refused',
      {
        onOutput: (chunk) => {
          output += Buffer.from(chunk).toString();
        },
      },
    );
    expect(output.replaceAll("\t", " ")).toBe(
      "1000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\nrefused\n",
    );
  });

  it("D31 a full workspace is full for itself alone", async () => {
    const { exitCode } = await environment.exec("head -c 700M /dev/zero > /workspace/big");
    expect(exitCode).not.toBe(0);
    await environment.exec("rm -f /workspace/big");
    expect((await environment.writeFile("/workspace/small", Buffer.from("x"))).created).toBe(true);
  });

  it("D33 the audit finds nothing to say about it", () => {
    expect(auditContainer(container)).toEqual([]);
  });
});
