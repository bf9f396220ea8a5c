/** What a customer asked for. The outside world of this demo is written into it. */
export interface Order {
  readonly order: string;
  /** How many times packing it fails. */
  readonly fails: number;
  /** Whether a person has to look at it. */
  readonly unusual: boolean;
}

/** Seven orders: four that go through, one that fails once, one that never works, one for a person. */
export const ORDERS: readonly Order[] = [
  order('o-1'),
  order('o-2'),
  order('o-3'),
  order('o-4'),
  order('o-5', { fails: 1 }),
  order('o-6', { fails: 9 }),
  order('o-7', { unusual: true }),
];

/** The order whose trace is printed. */
export const TRACED = 'o-5';

function order(number: string, { fails = 0, unusual = false }: Partial<Order> = {}): Order {
  return { order: number, fails, unusual };
}
