import type { Publisher } from '@acemq/amqp';
import type { Span, Tracer } from '@opentelemetry/api';
import type { Order } from './orders.ts';

/** Places an order inside a span of the application's own, and returns the id of its trace. */
export function checkout(tracer: Tracer, orders: Publisher<Order>, order: Order): Promise<string> {
  return tracer.startActiveSpan('checkout', async (span: Span) => {
    try {
      await orders.send(order);
      return span.spanContext().traceId;
    } finally {
      span.end();
    }
  });
}
