import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { root } from '../tools.mjs';
import { readWorkspace } from '../workspace.mjs';

interface Conditions {
  readonly import: { readonly types: string };
}

interface Loaded {
  readonly imported: string[];
  readonly required: string[];
  readonly same: boolean;
}

const run = promisify(execFile);
const entries = readWorkspace()
  .filter(({ folder }) => folder.startsWith('packages/'))
  .flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter((entry): entry is [string, Conditions] => typeof entry[1] === 'object')
      .map(([path, conditions]) => ({
        folder: join(root, folder),
        name: `${manifest.name}${path.slice(1)}`,
        types: join(root, folder, conditions.import.types),
      })),
  );

/** Loads a built entry both ways, in a Node of its own: no test runner, no source condition. */
async function load(folder: string, name: string): Promise<Loaded> {
  const script = `
    import { createRequire } from 'node:module';
    const name = ${JSON.stringify(name)};
    const keys = (module) => Object.keys(module).filter((key) => key !== 'module.exports' && key !== '__esModule').sort();
    const imported = await import(name);
    const required = createRequire(${JSON.stringify(join(folder, 'package.json'))})(name);
    const same = keys(imported).every((key) => imported[key] === required[key]);
    console.log(JSON.stringify({ imported: keys(imported), required: keys(required), same }));
  `;
  const args = ['--no-warnings', '--input-type=module', '--eval', script];
  const { stdout } = await run(process.execPath, args, { cwd: folder });
  return JSON.parse(stdout) as Loaded;
}

/** What the declaration file says can be used as a value. */
function declaredValues(file: string): string[] {
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not there: build first (npm run build).`);
  return checker
    .getExportsOfModule(module)
    .filter((symbol) => {
      const typeOnly = symbol.declarations?.some(ts.isTypeOnlyExportDeclaration) ?? false;
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return !typeOnly && (target.flags & ts.SymbolFlags.Value) !== 0;
    })
    .map((symbol) => symbol.name)
    .sort();
}

describe('what a built package exports', () => {
  // The declaration bundler turns `export type { SomeClass }` into `export { SomeClass }`, which then fails at run time.
  test.for(entries)(
    '$name has every value that its types promise, and types for every value',
    { timeout: 60_000 },
    async ({ folder, name, types }) => {
      const { imported } = await load(folder, name);
      expect(imported).toEqual(declaredValues(types));
      expect(imported.length).toBeGreaterThan(0);
    },
  );

  test.for(entries)(
    '$name is one module, whether imported or required',
    { timeout: 60_000 },
    async ({ folder, name }) => {
      const { imported, required, same } = await load(folder, name);
      expect(required).toEqual(imported);
      expect(same).toBe(true);
    },
  );
});
