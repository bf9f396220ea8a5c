/** What the shop needs of an order. Amounts are in whole cents. */
export interface Order {
  readonly order: string;
  readonly items: readonly Item[];
  readonly total: number;
  /** How many attempts to charge it fail. The outside world of this demo is written into the orders. */
  readonly fails: number;
}

/** One position of an order. */
interface Item {
  readonly article: string;
  readonly quantity: number;
  readonly price: number;
}

/** An order that the shop cannot work. The message says what is wrong with it. */
export class BadOrder extends Error {}

/** Reads an order from whatever came; fields that the shop does not need are left alone. Throws {@link BadOrder}. */
export function readOrder(payload: unknown): Order {
  if (!isObject(payload)) throw new BadOrder(`it is ${kindOf(payload)} and not an order`);
  const { order, items, total, fails } = payload;
  if (typeof order !== 'string' || order.trim() === '') throw new BadOrder('it has no order number');
  if (!Array.isArray(items) || items.length === 0) throw new BadOrder('it has no items');
  if (!isAmount(total)) throw new BadOrder('its total is not an amount');
  return { order, items: items.map(readItem), total: cents(total), fails: readFails(fails) };
}

/** What the items come to, in cents. */
export function sumOf(order: Order): number {
  return order.items.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
}

/** An amount as people write it. */
export function money(amount: number): string {
  return (amount / 100).toFixed(2);
}

function readItem(item: unknown, index: number): Item {
  const which = `item ${index + 1}`;
  if (!isObject(item)) throw new BadOrder(`${which} is ${kindOf(item)}`);
  const { article, quantity, price } = item;
  if (typeof article !== 'string') throw new BadOrder(`${which} names no article`);
  if (!Number.isSafeInteger(quantity) || (quantity as number) < 1) {
    throw new BadOrder(`${which} (${article}) has the quantity ${JSON.stringify(quantity) ?? 'undefined'}`);
  }
  if (!isAmount(price)) throw new BadOrder(`the price of ${which} (${article}) is not an amount`);
  return { article, quantity: quantity as number, price: cents(price) };
}

function readFails(fails: unknown): number {
  if (fails === 'always') return Number.POSITIVE_INFINITY;
  return typeof fails === 'number' ? fails : 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
