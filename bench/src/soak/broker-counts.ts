import type { FaultNode } from '@acemq/fault-node';

/** What the broker holds, by name of the queue: ready and unacknowledged messages together, exactly. */
export async function messagesOn(node: FaultNode): Promise<ReadonlyMap<string, number>> {
  // What a quorum queue tells of itself by way of the metrics is some seconds old, so its leader is asked.
  const text = await node.evaluate(`
    [begin
      {resource, _, queue, Name} = amqqueue:get_name(Queue),
      {Name, case amqqueue:get_type(Queue) of
        rabbit_quorum_queue ->
          {ok, {_, Count}, _} = ra:leader_query(amqqueue:get_pid(Queue), fun rabbit_fifo:query_messages_total/1),
          Count;
        _ ->
          [{messages, Count}] = rabbit_amqqueue:info(Queue, [messages]),
          Count
      end}
    end || Queue <- rabbit_amqqueue:list(<<"/">>)]`);
  const rows = text.matchAll(/<<"([^"]+)">>\s*,\s*(\d+)/g);
  return new Map([...rows].map(([, name = '', count]) => [name, Number(count)]));
}

/** How many connections and subscriptions the broker has. */
export async function openOn(
  node: FaultNode,
): Promise<{ readonly connections: number; readonly consumers: number }> {
  const text = await node.evaluate(
    '{length(rabbit_networking:connections()), length(rabbit_amqqueue:consumers_all(<<"/">>))}',
  );
  const [connections = Number.NaN, consumers = Number.NaN] = [...text.matchAll(/\d+/g)].map(Number);
  return { connections, consumers };
}
