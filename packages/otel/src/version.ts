import manifest from '../package.json' with { type: 'json' };

/** The version of this package, which the scope of every span and metric carries. */
export const VERSION: string = manifest.version;
