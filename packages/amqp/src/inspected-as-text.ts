import { inspect } from 'node:util';

/**
 * Makes objects of a class appear as their `toString()` in `console.log` and in an assertion's message: what
 * they hold inside is of no use there, and an endpoint among it could show more than it should.
 */
export function inspectedAsText(target: { readonly prototype: object }): void {
  Object.defineProperty(target.prototype, inspect.custom, {
    value(this: object): string {
      return this.toString();
    },
  });
}
