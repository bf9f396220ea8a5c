/** What every address of RabbitMQ's direct reply-to begins with: replies go to a channel, without a queue. */
const PREFIX = 'amq.rabbitmq.reply-to';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Erlang's external term format: its version, and the tags of a process and of the name of its node. */
const VERSION = 131;
const PROCESS = 88;
const NODE_NAME = 118;
/** What stands before the name, and the three numbers of a process after it. */
const BEFORE = 5;
const NUMBERS = 12;

/** `reply@` and the hash of the node: the broker keeps its name to itself. */
const NODE = /^reply@\d+$/;

/** Whether an address is one of direct reply-to, or would be taken for one. */
export function isDirect(address: string): boolean {
  return address === PREFIX || address.startsWith(`${PREFIX}.`);
}

/**
 * Whether a direct address has the form that RabbitMQ gives it, 3.10 and later: the process of a channel and a key, each
 * in base64. RabbitMQ ends the whole connection (541 INTERNAL_ERROR) of whoever publishes to most others.
 */
export function isWellFormedDirect(address: string): boolean {
  const [process = '', key = '', ...more] = address.slice(PREFIX.length + 1).split('.');
  if (more.length > 0 || !BASE64.test(process) || !BASE64.test(key)) return false;
  let bytes: string;
  try {
    bytes = atob(process);
  } catch {
    return false;
  }
  const at = (index: number): number => bytes.charCodeAt(index);
  if (at(0) !== VERSION || at(1) !== PROCESS || at(2) !== NODE_NAME) return false;
  const length = at(3) * 256 + at(4);
  return bytes.length === BEFORE + length + NUMBERS && NODE.test(bytes.slice(BEFORE, BEFORE + length));
}
