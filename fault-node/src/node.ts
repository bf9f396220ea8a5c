import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { CONTROL_FD, CONTROL_PROGRAM, ControlLine } from './control-line.ts';
import { freePorts } from './free-port.ts';
import { type NodeConfiguration, type NodeFiles, writeNodeFiles } from './node-files.ts';

/** How long a node may take to boot; on two busy cores it has taken 10 s. */
const BOOT_DEADLINE = 120_000;
const ERROR_TAIL = 4000;
/** How long a process may go on after it was told to stop where it is; it is a millisecond or less. */
const SUSPEND_DEADLINE = 1_000;
/** Waits until the broker listens: it starts to do so after `rabbit:start()` has returned. */
const STARTED = `ok = rabbit:await_startup(node(), false, ${BOOT_DEADLINE})`;

/** What a user may do in a vhost: three patterns of names (configure, write, read). Default: everything. */
export interface NodePermissions {
  readonly configure?: string;
  readonly write?: string;
  readonly read?: string;
}

/** A RabbitMQ node of this test's own. */
export interface FaultNode {
  /** As `guest`, in the vhost `/`. */
  readonly url: string;
  readonly port: number;
  /** As Erlang knows it. */
  readonly name: string;
  /** Of the broker's own process, as long as that runs. */
  readonly pid: number | undefined;
  /** The URL for another user or vhost. */
  urlFor(login: { readonly user?: string; readonly password?: string; readonly vhost?: string }): string;
  /**
   * Stops the broker in good order: clients are told (320 CONNECTION_FORCED), and nobody listens. Its process
   * stays.
   */
  stop(): Promise<void>;
  /**
   * Starts it again with the same data, in the same process if that is there (under a second) or in a new
   * one.
   */
  start(): Promise<void>;
  /** Ends the process with SIGKILL: sockets are reset or closed by the system, nothing is put in order. */
  kill(): Promise<void>;
  /**
   * Stops the process where it is (SIGSTOP): the system accepts connections and bytes, and nobody answers.
   */
  suspend(): void;
  /** Lets it go on (SIGCONT). */
  resume(): void;
  /** Raises a memory or a disk alarm: every connection that publishes is blocked. */
  alarm(on: 'memory' | 'disk'): Promise<void>;
  /** Ends both. */
  clearAlarms(): Promise<void>;
  /** Makes a user, or changes it, with permissions in a vhost (default `/`). */
  addUser(name: string, password: string, permissions?: NodePermissions, vhost?: string): Promise<void>;
  deleteUser(name: string): Promise<void>;
  /** Makes an empty vhost in which `guest` may do everything. */
  addVhost(name: string): Promise<void>;
  deleteVhost(name: string): Promise<void>;
  /** The broker closes every connection (320 CONNECTION_FORCED) with this reason. */
  closeConnections(reason: string): Promise<void>;
  /** Clears alarms, closes connections, and empties the vhost `/`. Users and other vhosts stay. */
  reset(): Promise<void>;
  /** Evaluates Erlang expressions in the node, and resolves with the last one's value as text. About 1 ms. */
  evaluate(expressions: string): Promise<string>;
  /** Runs `rabbitmqctl` on this node, and resolves with what it printed. Half a second of CPU, or more. */
  ctl(...args: string[]): Promise<string>;
  /** Memory of the broker's process, in megabytes. */
  rssMb(): number;
  /** Ends the process and removes every file. */
  close(): Promise<void>;
}

/** Linux only. */
function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** Resident memory of a process of this machine, in megabytes. Linux only. */
export function rssMb(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (line === null) throw new Error(`process ${pid} says nothing about its memory`);
  return Number(line[1]) / 1024;
}

/** The script that starts a broker: the global set-up of the tests has found it. */
function serverProgram(): string {
  const program = process.env['RABBITMQ_SERVER_PROGRAM'];
  if (program === undefined || program === '') {
    throw new Error('RABBITMQ_SERVER_PROGRAM does not name the rabbitmq-server script to start');
  }
  return program;
}

/** An Erlang binary with this text. */
function binary(text: string): string {
  return `<<${[...Buffer.from(text)].join(',')}>>`;
}

class RunningNode implements FaultNode {
  readonly port: number;
  readonly #program: string;
  readonly #files: NodeFiles;
  #child: ChildProcess | undefined;
  #line: ControlLine | undefined;

  constructor(program: string, port: number, files: NodeFiles) {
    this.#program = program;
    this.port = port;
    this.#files = files;
  }

  get url(): string {
    return this.urlFor({});
  }

  get name(): string {
    return this.#files.name;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  urlFor({
    user = 'guest',
    password = user,
    vhost,
  }: {
    user?: string;
    password?: string;
    vhost?: string;
  }): string {
    const path = vhost === undefined ? '' : `/${encodeURIComponent(vhost)}`;
    return `amqp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${this.port}${path}`;
  }

  async start(): Promise<void> {
    if (this.#child === undefined) await this.#boot();
    else await this.evaluate(`ok = rabbit:start(), ${STARTED}`);
  }

  async #boot(): Promise<void> {
    const args = ['-noinput', '-kernel', 'inet_dist_use_interface', '{127,0,0,1}', '-eval', CONTROL_PROGRAM];
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe', 'pipe'];
    const child = spawn(this.#program, args, { env: this.#files.env, cwd: this.#files.folder, stdio });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        said = (said + bytes).slice(-ERROR_TAIL);
      });
    }
    this.#child = child;
    const line = new ControlLine(child.stdio[CONTROL_FD] as Duplex);
    this.#line = line;
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (this.#child === child) this.#child = undefined;
        reject(new Error(`the node ended (${code ?? signal}): ${said}`));
      });
    });
    ended.catch(() => {}); // Heard below while it boots; afterwards an end is what a test asks for.
    // The program is run after the boot, so that its first answer is the sign of it.
    const up = line.ask(STARTED);
    up.catch(() => {});
    const deadline = setTimeout(() => child.kill('SIGKILL'), BOOT_DEADLINE);
    await Promise.race([up.catch(() => ended), ended]).finally(() => clearTimeout(deadline));
  }

  async stop(): Promise<void> {
    await this.evaluate('ok = rabbit:stop()');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  suspend(): void {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.kill('SIGSTOP');
    // Until the signal has arrived on every core, it goes on answering.
    const late = performance.now() + SUSPEND_DEADLINE;
    while (!isStopped(child.pid) && performance.now() < late);
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async alarm(on: 'memory' | 'disk'): Promise<void> {
    await this.evaluate(`rabbit_alarm:set_alarm({{resource_limit, ${on}, node()}, []})`);
    // Asked of the same process, so that it has told the connections by the time it answers.
    await this.evaluate('rabbit_alarm:get_alarms()');
  }

  async clearAlarms(): Promise<void> {
    const clear = (on: string): string => `rabbit_alarm:clear_alarm({resource_limit, ${on}, node()})`;
    await this.evaluate(`${clear('memory')}, ${clear('disk')}, rabbit_alarm:get_alarms()`);
  }

  async addUser(
    name: string,
    password: string,
    permissions: NodePermissions = {},
    vhost = '/',
  ): Promise<void> {
    const user = binary(name);
    const { configure = '.*', write = '.*', read = '.*' } = permissions;
    const patterns = [configure, write, read].map(binary).join(', ');
    await this.evaluate(`
      case rabbit_auth_backend_internal:exists(${user}) of
        true -> rabbit_auth_backend_internal:change_password(${user}, ${binary(password)}, <<"test">>);
        false -> rabbit_auth_backend_internal:add_user(${user}, ${binary(password)}, <<"test">>)
      end,
      ok = rabbit_auth_backend_internal:set_permissions(${user}, ${binary(vhost)}, ${patterns}, <<"test">>)`);
  }

  async deleteUser(name: string): Promise<void> {
    await this.evaluate(`rabbit_auth_backend_internal:delete_user(${binary(name)}, <<"test">>)`);
  }

  async addVhost(name: string): Promise<void> {
    await this.evaluate(`rabbit_vhost:add(${binary(name)}, <<"test">>)`);
    await this.addUser('guest', 'guest', {}, name);
  }

  async deleteVhost(name: string): Promise<void> {
    await this.evaluate(`rabbit_vhost:delete(${binary(name)}, <<"test">>)`);
  }

  async closeConnections(reason: string): Promise<void> {
    // One that ends by itself meanwhile is an exit here.
    await this.evaluate(
      `[catch rabbit_networking:close_connection(Pid, ${binary(reason)}) || Pid <- rabbit_networking:connections()]`,
    );
  }

  async reset(): Promise<void> {
    await this.clearAlarms();
    await this.closeConnections('the test has ended');
    await this.deleteVhost('/');
    await this.addVhost('/');
  }

  evaluate(expressions: string): Promise<string> {
    return this.#line?.ask(expressions) ?? Promise.reject(new Error('the node is not running'));
  }

  ctl(...args: string[]): Promise<string> {
    const program = join(dirname(this.#program), 'rabbitmqctl');
    return new Promise((resolve, reject) => {
      execFile(program, ['-n', this.name, '-q', ...args], { env: this.#files.env }, (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`rabbitmqctl ${args[0] ?? ''}: ${err}${out}`, { cause: error }));
      });
    });
  }

  rssMb(): number {
    if (this.pid === undefined) throw new Error('the node is not running');
    return rssMb(this.pid);
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#files.folder, { recursive: true, force: true });
  }
}

/**
 * Starts a node of RabbitMQ that is nobody else's: own name, ports, configuration, data and cookie. It takes
 * 6 to 10 seconds, so a test file starts one and resets it between its tests. A consumer may hold a delivery
 * for 3 s there, looked at every second; other settings can be given. The broker on the usual port is not
 * touched. Close it in the end; a node whose test process dies ends by itself.
 */
export async function startNode(configuration: NodeConfiguration = {}): Promise<FaultNode> {
  const program = serverProgram();
  const ports = await freePorts();
  const node = new RunningNode(program, ports[0], writeNodeFiles(ports, configuration));
  try {
    await node.start();
  } catch (error) {
    await node.close();
    throw error;
  }
  return node;
}
