import type { Message } from '@acemq/core';

/** What is asked. */
export interface PriceRequest {
  readonly sku: string;
}

/** What is answered. */
export interface Price {
  readonly sku: string;
  readonly cents: number;
}

/** A failure with a name of its own: the asker is told it, and what it says. */
class UnknownSku extends Error {}

/** How long a price takes that has to be fetched from a supplier, in milliseconds. */
const SUPPLIER = 1000;

/** The price of an article: what a responder does with a request. */
export async function priceOf({ payload: { sku } }: Message<PriceRequest>): Promise<Price> {
  const number = Number(sku.slice('SKU-'.length));
  if (isUnknown(number)) throw new UnknownSku(`there is no ${sku}`);
  if (isFetched(number)) await new Promise((resolve) => setTimeout(resolve, SUPPLIER));
  return { sku, cents: 100 + number };
}

/** Every twentieth article is unknown. */
export function isUnknown(number: number): boolean {
  return number % 20 === 0;
}

/** Every twenty-fifth but one has its price fetched, which takes longer than anybody here waits. */
export function isFetched(number: number): boolean {
  return number % 25 === 7;
}
