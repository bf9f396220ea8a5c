import type { Labels } from './observer.ts';

interface Step<Found> {
  /** The name of the label that is looked at here: the one that stood here first. */
  name: string | undefined;
  next: Map<string, Step<Found>> | undefined;
  found: Found | undefined;
}

/**
 * Remembers what a labels object led to, by its values in the order in which its names stand, so that neither
 * sorting nor joining is needed the next time. Labels whose names stand in another order than those that came
 * first are not remembered; who asks has to know another way.
 */
export class LabelPaths<Found> {
  readonly #start: Step<Found> = newStep();

  find(labels: Labels): Found | undefined {
    let step = this.#start;
    for (const name of Object.keys(labels)) {
      if (name !== step.name) return undefined;
      const next = step.next?.get(String(labels[name]));
      if (next === undefined) return undefined;
      step = next;
    }
    return step.found;
  }

  learn(labels: Labels, found: Found): void {
    let step = this.#start;
    for (const name of Object.keys(labels)) {
      step.name ??= name;
      if (name !== step.name) return;
      step.next ??= new Map();
      const value = String(labels[name]);
      let next = step.next.get(value);
      if (next === undefined) {
        next = newStep();
        step.next.set(value, next);
      }
      step = next;
    }
    step.found = found;
  }
}

function newStep<Found>(): Step<Found> {
  return { name: undefined, next: undefined, found: undefined };
}
