import { ConfigurationError, type Duration, shown } from '@acemq/core';
import { flags, type Surroundings } from '@acemq/terminal';
import { alertRules } from '../alert-rules.ts';
import { HEALTHY } from './exit-codes.ts';

export function rulesCommand(args: readonly string[], { stdout }: Surroundings): number {
  const values = flags(args, {
    threshold: { type: 'string' },
    kind: { type: 'string', multiple: true },
    namespace: { type: 'string' },
    label: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  });
  const rules = alertRules({
    ...(values.threshold === undefined ? {} : { threshold: values.threshold as Duration }),
    ...(values.kind === undefined ? {} : { kinds: values.kind }),
    ...(values.namespace === undefined ? {} : { namespace: values.namespace }),
    labels: Object.fromEntries((values.label ?? []).map(pair)),
  });
  stdout.write(values.json ? `${JSON.stringify({ rules })}\n` : rules);
  return HEALTHY;
}

function pair(label: string): [string, string] {
  const at = label.indexOf('=');
  if (at < 1) throw new ConfigurationError(`--label must be NAME=VALUE, not ${shown(label)}`);
  return [label.slice(0, at), label.slice(at + 1)];
}
