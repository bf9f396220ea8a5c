/**
 * The same module once more, as a bundler or a second version of the package in one process would have it.
 */
export async function secondCopy<T>(file: string): Promise<T> {
  return (await import(/* @vite-ignore */ `../src/${file}?copy`)) as T;
}
