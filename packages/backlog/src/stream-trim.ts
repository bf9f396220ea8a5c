import type { RedisCall } from './redis-calls.ts';
import { asFields, asList } from './redis-replies.ts';
import { compareIds, idAfter } from './stream-id.ts';

/**
 * Removes the entries that every group has finished, and none besides: what is older than the oldest unfinished id of all
 * groups. Never by a number of entries, which drops unfinished jobs.
 */
export async function trimFinished(call: RedisCall, stream: string): Promise<void> {
  const groups = asList(await call('XINFO', 'GROUPS', stream)).map(asFields);
  let oldest: string | undefined;
  for (const group of groups) {
    const first = await firstUnfinished(call, stream, group);
    if (oldest === undefined || compareIds(first, oldest) < 0) oldest = first;
  }
  if (oldest !== undefined) await call('XTRIM', stream, 'MINID', oldest);
}

async function firstUnfinished(
  call: RedisCall,
  stream: string,
  group: ReadonlyMap<string, unknown>,
): Promise<string> {
  if (Number(group.get('pending')) > 0) {
    const [first] = asList(await call('XPENDING', stream, String(group.get('name')), '-', '+', '1'));
    const [id] = asList(first);
    if (id !== undefined) return String(id);
  }
  return idAfter(String(group.get('last-delivered-id')));
}
