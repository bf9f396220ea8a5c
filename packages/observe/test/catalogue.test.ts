import { describe, expect, it } from 'vitest';
import * as observe from '../src/index.ts';
import { BACKLOG_METRICS, METRICS } from '../src/index.ts';

const constants = (prefix: string): string[] =>
  Object.entries(observe)
    .filter(([name]) => name.startsWith(prefix))
    .map(([, value]) => value as string);

describe('METRICS', () => {
  it('has, with the metrics of a backlog, every METRIC_ constant once, and nothing else', () => {
    const written = [...METRICS, ...BACKLOG_METRICS].map(({ name }) => name);
    expect(written.sort()).toEqual(constants('METRIC_').sort());
    expect(METRICS).toHaveLength(16);
  });

  it('has the labels that the dashboards of the family read', () => {
    expect(
      Object.fromEntries(METRICS.map(({ name, kind, labels }) => [name, `${kind} ${labels.join()}`])),
    ).toEqual({
      'acemq.publish.total': 'counter exchange,outcome,routing.key',
      'acemq.publish.duration': 'distribution exchange,outcome,routing.key',
      'acemq.consume.total': 'counter outcome,queue',
      'acemq.consume.duration': 'distribution outcome,queue',
      'acemq.consume.attempts': 'distribution queue',
      'acemq.consume.in.flight': 'gauge queue',
      'acemq.messages.retried.total': 'counter queue,where',
      'acemq.messages.dead.lettered.total': 'counter outcome,queue',
      'acemq.messages.set.aside.failed': 'counter queue,target',
      'acemq.retry.rung.missing': 'counter queue,rung',
      'acemq.request.total': 'counter outcome,routing.key',
      'acemq.request.duration': 'distribution outcome,routing.key',
      'acemq.outbox.total': 'counter exchange,outcome,routing.key',
      'acemq.outbox.lag': 'distribution exchange,outcome,routing.key',
      'acemq.pipeline.run.total': 'counter outcome,pipeline,step',
      'acemq.pipeline.run.duration': 'distribution outcome,pipeline,step',
    });
  });

  it('uses the TAG_ constants, all but the two that are reserved', () => {
    const used = new Set([...METRICS, ...BACKLOG_METRICS].flatMap(({ labels }) => labels));
    const reserved = [observe.TAG_MESSAGE_TYPE, observe.TAG_TRANSPORT];
    expect([...used, ...reserved].sort()).toEqual(constants('TAG_').sort());
  });

  it('lists the values of every outcome and where label', () => {
    for (const { name, labels, values } of METRICS) {
      const closed = labels.filter((label) => label === 'outcome' || label === 'where');
      expect(Object.keys(values), name).toEqual(closed);
      for (const allowed of Object.values(values)) expect(allowed.length, name).toBeGreaterThan(0);
    }
  });

  it('uses every OUTCOME_ and WHERE_ constant of the package', () => {
    const used = new Set(
      [...METRICS, ...BACKLOG_METRICS].flatMap(({ values }) => Object.values(values).flat()),
    );
    for (const value of [...constants('OUTCOME_'), ...constants('WHERE_')]) expect(used).toContain(value);
  });

  it('has one line of help for each, which says more than the name', () => {
    for (const { name, help } of METRICS) {
      expect(help, name).toMatch(/^[A-Z][^\n]+\.$/);
      expect(help).not.toContain(name);
    }
    expect(new Set(METRICS.map(({ help }) => help)).size).toBe(16);
  });

  it('says seconds for each distribution but the one of attempts', () => {
    const distributions = METRICS.filter(({ kind }) => kind === 'distribution');
    expect(distributions.filter(({ unit }) => unit !== 'seconds').map(({ name }) => name)).toEqual([
      'acemq.consume.attempts',
    ]);
  });

  it('cannot be changed', () => {
    for (const definition of [
      METRICS,
      ...METRICS,
      ...METRICS.flatMap(({ labels, values }) => [labels, values]),
    ]) {
      expect(Object.isFrozen(definition)).toBe(true);
    }
    for (const allowed of METRICS.flatMap(({ values }) => Object.values(values))) {
      expect(Object.isFrozen(allowed)).toBe(true);
    }
  });
});
