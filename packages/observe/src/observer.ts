/**
 * Labels of one sample, by name. Hand over the same frozen object for the same labels where you can: an
 * observer may then recognise it and need not look at the labels again.
 */
export type Labels = Readonly<Record<string, string>>;

/**
 * What the library tells its numbers to. Anything with these three methods qualifies.
 *
 * The methods are called on the way of a message, are never awaited and must not block. One that throws does
 * not harm the message: the connection logs it once per metric and goes on.
 */
export interface Observer {
  /** Adds `delta`, a whole number of at least 1, to a counter. */
  count(metric: string, delta: number, labels: Labels): void;
  /**
   * Adds one sample to a distribution. The value is in seconds, except for `acemq.consume.attempts`, where it
   * is the number of the attempt (1, 2, 3 …): buckets made for seconds would misread it.
   */
  observe(metric: string, value: number, labels: Labels): void;
  /** Sets a gauge. `NaN` says that the number is not known at the moment. */
  gauge(metric: string, value: number, labels: Labels): void;
}

const NULL_OBSERVER = Symbol.for('acemq.observer.null');

/** Does nothing. What a connection has when it is given no observer. */
export class NullObserver implements Observer {
  count(_metric: string, _delta: number, _labels: Labels): void {}
  observe(_metric: string, _value: number, _labels: Labels): void {}
  gauge(_metric: string, _value: number, _labels: Labels): void {}
}
Object.defineProperty(NullObserver.prototype, NULL_OBSERVER, { value: true });

/**
 * Whether nobody listens, so that a caller may skip reading clocks and building labels. True for a
 * {@link NullObserver} of any copy of this package, and for nothing else.
 */
export function isNullObserver(observer: Observer): boolean {
  // Its own prototype only: a subclass has methods of its own.
  const prototype: object | null = Object.getPrototypeOf(observer);
  return prototype !== null && Object.hasOwn(prototype, NULL_OBSERVER);
}
