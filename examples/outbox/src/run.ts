import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@acemq/amqp';
import { deadLetterQueueName, parkedQueueName, topology } from '@acemq/core';
import { KilledProcess } from './killed-process.ts';
import { PROGRAMS, type Setting } from './programs.ts';
import { openShop } from './shop-database.ts';

/** How often each program is killed. */
const KILLS = 5;

/** How many orders are on their way at once. */
const AT_ONCE = 20;

/** In milliseconds: how long the last order may take to have its effect. */
const PATIENCE = 60_000;

/** Takes the orders while the programs are killed. Resolves to whether each order had its effect once. */
export async function runShop(setting: Setting, orders: number): Promise<boolean> {
  const { amqp, database, run } = setting;
  const shop = await openShop(database, run);
  const mq = await connect(amqp, { name: 'run' });
  const queue = `${run}.orders`;
  const programs = PROGRAMS.map((program) => new KilledProcess(program, setting));
  try {
    await shop.migrate();
    await mq.declare(topology().queue(queue));
    for (const program of programs) await program.start();
    const [service] = programs as [KilledProcess];
    let placed = 0;
    const placing = Promise.all(
      Array.from({ length: AT_ONCE }, async (_, first) => {
        for (let number = first; number < orders; number += AT_ONCE) {
          await place(`order-${number}`, () => service.said);
          placed += 1;
        }
      }),
    );
    const rounds = KILLS * programs.length;
    for (let round = 0; round < rounds; round += 1) {
      while (placed < (orders * (round + 1)) / (rounds + 1)) await sleep(2);
      const program = programs[round % programs.length] as KilledProcess;
      await program.kill();
      await program.start();
    }
    await placing;
    const deadline = Date.now() + PATIENCE;
    while (Date.now() < deadline) {
      const isDone = (await shop.store.pendingCount()) === 0 && (await shop.count('effects')) >= orders;
      if (isDone && (await mq.messageCount(queue)) === 0) break;
      await sleep(100);
    }
    const counts = {
      orders: await shop.count('orders'),
      events: await shop.count('distinct (id) deliveries'),
      effects: await shop.count('effects'),
      deliveries: await shop.count('deliveries'),
    };
    const kills = programs.map(({ kills: times }, index) => `${PROGRAMS[index]} ${times} times`).join(', ');
    console.log(`killed     ${kills}`);
    console.log(`orders     ${counts.orders}`);
    console.log(`events     ${counts.events}`);
    console.log(`effects    ${counts.effects}`);
    console.log(`repeats    ${counts.deliveries - counts.events}`);
    return [counts.orders, counts.events, counts.effects].every((count) => count === orders);
  } finally {
    for (const program of programs) await program.kill();
    for (const name of [queue, deadLetterQueueName(queue), parkedQueueName(queue)])
      await mq.deleteQueue(name);
    await shop.drop();
    await shop.close();
    await mq.close();
  }
}

/** Places an order; the same again while nobody answers, or the answer is no. */
async function place(id: string, port: () => string): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port()}/${id}`, { method: 'PUT' });
      await response.text();
      if (response.status === 201) return;
    } catch {
      // The service was killed, perhaps after it had committed: the order is placed again under the same id.
    }
    await sleep(20);
  }
}
