import { setTimeout as pause } from 'node:timers/promises';
import { accept, type Handler, park, reject } from '@acemq/core';
import { BadOrder, money, readOrder, sumOf } from './order.ts';

/** From this total on, in cents, a person has to approve an order. */
const NEEDS_APPROVAL = 1_000_00;

/** How long the shop takes over an order, in milliseconds. */
const WORK = 20;

/** The service that charges cards. It recovers by itself, so an order that meets it is worth another attempt. */
class PaymentServiceDown extends Error {}

/**
 * Works one order: refuses what is wrong with it, leaves to a person what a person has to decide, and charges the rest.
 * What `charge` throws means that the order is tried again.
 */
export const shop: Handler = async (message) => {
  try {
    const order = readOrder(message.payload);
    if (sumOf(order) !== order.total) {
      return reject(`its total is ${money(order.total)} and its items come to ${money(sumOf(order))}`);
    }
    if (order.total >= NEEDS_APPROVAL) return park(`a total of ${money(order.total)} needs approval`);
    await charge(message.envelope.attempt, order.fails, message.signal);
    return accept();
  } catch (error) {
    if (error instanceof BadOrder) return reject(error.message);
    throw error;
  }
};

async function charge(attempt: number, fails: number, signal: AbortSignal): Promise<void> {
  await pause(WORK, undefined, { signal });
  if (attempt <= fails) throw new PaymentServiceDown('no answer from the payment service');
}
