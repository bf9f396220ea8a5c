/** The version of this package, which the scope of every span and metric carries. A test holds it to package.json. */
export const VERSION = '0.0.0';
