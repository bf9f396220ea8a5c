import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { type ChannelModel, connect } from 'amqplib';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { CONTROL_FD, CONTROL_PROGRAM } from '../src/control-line.ts';
import { type FaultNode, rssMb, startNode } from '../src/index.ts';

/** Starts an Erlang machine with the control line, says its process id, and waits to be killed. */
const PARENT = `
  const stdio = ['ignore', 'ignore', 'ignore'];
  stdio[Number(process.argv[2])] = 'pipe';
  const child = require('node:child_process').spawn('erl', ['-noinput', '-eval', process.argv[1]], { stdio });
  console.log(child.pid);`;

let node: FaultNode;
const models: ChannelModel[] = [];

beforeAll(async () => {
  node = await startNode();
});

afterAll(() => node?.close());

afterEach(async () => {
  await Promise.all(models.splice(0).map((model) => model.close().catch(() => {})));
});

async function open(url = node.url): Promise<ChannelModel> {
  const model = await connect(url);
  model.on('error', () => {});
  models.push(model);
  return model;
}

/** Whether somebody listens there. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

test('it takes a message and gives it back', async () => {
  const channel = await (await open()).createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  channel.sendToQueue(queue, Buffer.from('hello'));
  await channel.waitForConfirms();
  expect(await channel.get(queue, { noAck: true })).toMatchObject({ content: Buffer.from('hello') });
});

test.each(['memory', 'disk'] as const)(
  'an alarm for the %s blocks publishing until it is cleared',
  async (on) => {
    const model = await open();
    const seen: string[] = [];
    model.on('blocked', (reason: string) => seen.push(reason));
    model.on('unblocked', () => seen.push('unblocked'));
    const channel = await model.createConfirmChannel();
    await node.alarm(on);
    let confirmed = false;
    channel.sendToQueue('nowhere', Buffer.from('x'), {}, () => {
      confirmed = true;
    });
    await vi.waitFor(() => expect(seen).toEqual([expect.stringContaining(on)]));
    expect(confirmed).toBe(false);
    await node.clearAlarms();
    await vi.waitFor(() => expect(confirmed).toBe(true));
    expect(seen).toEqual([expect.stringContaining(on), 'unblocked']);
  },
);

test('it closes connections with the reason that is given', async () => {
  const model = await open();
  const closed = once(model, 'close');
  await node.closeConnections('maintenance tonight');
  const [error] = (await closed) as [Error];
  expect(error.message).toContain('maintenance tonight');
});

test('a user has the permissions given and no others', async () => {
  await node.addUser('clerk', 'secret', { configure: '^$', write: '^$' });
  const url = node.urlFor({ user: 'clerk', password: 'secret' });
  const channel = await (await open(url)).createChannel();
  channel.on('error', () => {});
  await expect(channel.assertQueue('of-the-clerk')).rejects.toThrow('403');
  await node.addUser('clerk', 'other');
  await expect(connect(url)).rejects.toThrow('403');
  const allowed = await (await open(node.urlFor({ user: 'clerk', password: 'other' }))).createChannel();
  await allowed.assertQueue('of-the-clerk', { exclusive: true });
  await node.deleteUser('clerk');
  await expect(connect(node.urlFor({ user: 'clerk', password: 'other' }))).rejects.toThrow('403');
});

test('a vhost is one of its own', async () => {
  await node.addVhost('second floor');
  const channel = await (await open(node.urlFor({ vhost: 'second floor' }))).createChannel();
  await channel.assertQueue('only-here');
  expect(await node.ctl('list_queues', '-p', 'second floor', 'name')).toContain('only-here');
  expect(await node.ctl('list_queues', 'name')).not.toContain('only-here');
  await node.deleteVhost('second floor');
});

test('a reset leaves nothing in the vhost and no alarm', async () => {
  const channel = await (await open()).createChannel();
  await channel.assertQueue('left-behind', { arguments: { 'x-queue-type': 'quorum' } });
  await node.alarm('disk');
  await node.reset();
  const again = await (await open()).createConfirmChannel();
  again.on('error', () => {});
  again.sendToQueue('nobody', Buffer.from('x'));
  await again.waitForConfirms();
  await expect(again.checkQueue('left-behind')).rejects.toThrow('404');
});

test('a consumer that holds a delivery longer than 3 s loses its channel', async () => {
  const channel = await (await open()).createChannel();
  const failed = once(channel, 'error');
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.consume(queue, () => {});
  channel.sendToQueue(queue, Buffer.from('x'));
  const [error] = (await failed) as [Error];
  expect(error.message).toMatch(/406.*delivery acknowledgement/);
});

test('a stop tells the clients and a start brings back what is durable, in the same process', async () => {
  const model = await open();
  const channel = await model.createConfirmChannel();
  await channel.assertQueue('kept', { durable: true });
  channel.sendToQueue('kept', Buffer.from('still here'), { persistent: true });
  await channel.waitForConfirms();
  const { pid } = node;
  const closed = once(model, 'close');
  await node.stop();
  expect(`${(await closed)[0]}`).toContain('320');
  expect(await listens(node.port)).toBe(false);
  await node.start();
  const again = await (await open()).createChannel();
  expect(await again.get('kept', { noAck: true })).toMatchObject({ content: Buffer.from('still here') });
  await again.deleteQueue('kept');
  expect(node.pid).toBe(pid);
});

test('it can be halted in the middle of everything and go on', async () => {
  const model = await open();
  const channel = await model.createConfirmChannel();
  node.suspend();
  try {
    expect(readProc(node.pid as number, 'status')).toMatch(/^State:\s+T/m);
    let confirmed = false;
    channel.sendToQueue('nowhere', Buffer.from('x'), {}, () => {
      confirmed = true;
    });
    expect(await listens(node.port)).toBe(true); // the system accepts for it
    expect(confirmed).toBe(false);
    node.resume();
    await vi.waitFor(() => expect(confirmed).toBe(true), { timeout: 10_000 });
  } finally {
    node.resume();
  }
});

test('a kill ends that process and no other, and a start brings back what is durable', async () => {
  const others = new Set(brokerProcesses().filter((pid) => pid !== node.pid));
  const model = await open();
  const channel = await model.createConfirmChannel();
  await channel.assertQueue('kept', { durable: true });
  channel.sendToQueue('kept', Buffer.from('still here'), { persistent: true });
  await channel.waitForConfirms();
  const pid = node.pid as number;
  expect(brokerProcesses()).toContain(pid);
  expect(rssMb(pid)).toBeGreaterThan(20);
  await node.kill();
  expect(node.pid).toBeUndefined();
  expect(brokerProcesses()).not.toContain(pid);
  expect(brokerProcesses().filter((one) => others.has(one))).toEqual([...others]);
  await expect(node.evaluate('node()')).rejects.toThrow('not running');
  await node.start();
  const again = await (await open()).createChannel();
  expect(await again.get('kept', { noAck: true })).toMatchObject({ content: Buffer.from('still here') });
});

test('a node whose test process dies ends by itself', async () => {
  const args = ['-e', PARENT, CONTROL_PROGRAM, String(CONTROL_FD)];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const orphan = Number(`${said}`);
  await vi.waitFor(() => expect(brokerProcesses()).toContain(orphan));
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(brokerProcesses()).not.toContain(orphan), { timeout: 5000 });
});

test('an expression that fails rejects with what Erlang says', async () => {
  await expect(node.evaluate('1 = 2')).rejects.toThrow('badmatch');
  expect(await node.evaluate('node()')).toContain(node.name);
  expect(node.rssMb()).toBeGreaterThan(20);
});

/** The Erlang machines that run on this computer. */
function brokerProcesses(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readProc(pid, 'comm').startsWith('beam.smp')).map(Number);
}

function readProc(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // It has ended since it was listed.
  }
}
