// The code blocks of the READMEs and of the pages in docs/, and a place where they type-check and run as a user's program would.
//
// HTML comments right above a block say what is special about it:
//   <!-- no-run: reason -->  the block is type-checked and not run
//   <!-- continues -->       the block goes on where the one above it ended: they are checked together, and run together
//                            in place of the one above
//   <!-- until: text -->     the program does not end by itself: it is sent SIGTERM once it has printed the text, and must
//                            then end with 0
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from './tools.mjs';
import { readWorkspace } from './workspace.mjs';

/**
 * @typedef {object} Block
 * @property {string} file the README, from the root
 * @property {number} line of its first line of code
 * @property {string} code at the lines where the README has it; everything else is blank
 * @property {string | undefined} noRun why it is not run
 * @property {string | undefined} until what it prints before it is ended
 */

const languages = new Set(['ts', 'typescript', 'js', 'javascript']);

/**
 * The code blocks of one README.
 * @param {string} file
 * @param {string} text
 * @returns {Block[]}
 * @throws {Error} when a marker is not known, or nothing stands above a block that continues
 */
export function blocksOf(file, text) {
  const lines = text.split(/\r?\n/);
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Map<string, string>} */
  let markers = new Map();
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const marker = /^<!--\s*(no-run|continues|until)(?::\s*(.*?))?\s*-->$/.exec(line.trim());
    const fence = /^(`{3,})\s*(\w*)/.exec(line);
    if (marker !== null) markers.set(marker[1] ?? '', marker[2] ?? '');
    else if (fence !== null) {
      const start = index + 1;
      const length = lines.slice(start).findIndex((other) => other.trimEnd() === fence[1]);
      if (length < 0) throw new Error(`${file}:${start}: this code block has no end`);
      index = start + length;
      if (languages.has(fence[2] ?? '')) {
        const code = lines.map((other, at) => (at >= start && at < index ? other : '')).join('\n');
        const above = markers.has('continues') ? blocks.at(-1) : undefined;
        if (above !== undefined) above.noRun ??= 'the block below continues it';
        blocks.push({
          file,
          line: start + 1,
          code: markers.has('continues') ? together(blocks.at(-1), code, `${file}:${start}`) : code,
          noRun: markers.get('no-run'),
          until: markers.get('until'),
        });
      }
      markers = new Map();
    } else if (line.trim() !== '') markers = new Map();
  }
  return blocks;
}

/**
 * @param {Block | undefined} above
 * @param {string} code
 * @param {string} place
 */
function together(above, code, place) {
  if (above === undefined) throw new Error(`${place}: this block continues nothing`);
  const before = above.code.split('\n');
  return code
    .split('\n')
    .map((line, at) => line || before[at])
    .join('\n');
}

/**
 * The blocks of every README of the workspace, and of every page in docs/.
 * @returns {Block[]}
 */
export function readmeBlocks() {
  const readmes = ['.', ...readWorkspace().map(({ folder }) => folder)].map((folder) =>
    folder === '.' ? 'README.md' : `${folder}/README.md`,
  );
  const pages = ['docs', 'docs/patterns'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => `${folder}/${name}`),
  );
  return [...readmes, ...pages]
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => blocksOf(file, readFileSync(join(root, file), 'utf8')));
}

const home = join(root, 'node_modules', '.cache', 'readme-blocks');

/**
 * Writes each block as a module of a project that has all our packages, and what the README's own package has, installed.
 * @param {readonly Block[]} blocks
 * @returns {string[]} their files, in the same order
 */
export function writeBlocks(blocks) {
  rmSync(home, { recursive: true, force: true });
  return blocks.map((block) => {
    // A folder of pages has what docs has.
    const folder = dirname(block.file).replace(/^docs\/.*/, 'docs');
    const project = join(home, folder === '.' ? 'root' : folder.replace('/', '-'));
    if (!existsSync(project)) createProject(project, folder);
    const file = join(project, `${basename(block.file, '.md')}-${block.line}.ts`);
    // `export {}` makes a module of a block without imports.
    writeFileSync(file, `${block.code}\nexport {};\n`);
    return file;
  });
}

/**
 * @param {string} project
 * @param {string} folder of the README's package
 */
function createProject(project, folder) {
  const modules = join(project, 'node_modules');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  for (const member of readWorkspace()) {
    if (member.folder.startsWith('packages/'))
      link(join(root, member.folder), join(modules, member.manifest.name));
  }
  const own = join(root, folder, 'node_modules');
  if (folder === '.' || !existsSync(own)) return;
  for (const name of readdirSync(own).filter((entry) => !entry.startsWith('.'))) {
    const names = name.startsWith('@')
      ? readdirSync(join(own, name)).map((inner) => `${name}/${inner}`)
      : [name];
    for (const one of names) link(join(own, one), join(modules, one));
  }
}

/**
 * @param {string} target
 * @param {string} path
 */
function link(target, path) {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) symlinkSync(target, path, 'junction');
}

/**
 * Type-checks the files against the sources of the packages.
 * @param {readonly string[]} files
 * @returns {Map<string, string[]>} for each file its faults, with the line in the README
 */
export function typeCheck(files) {
  const base = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile).config.compilerOptions;
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...base,
      isolatedDeclarations: false,
      declaration: false,
      skipLibCheck: true,
      // process.env.NAME is what a reader would write.
      noPropertyAccessFromIndexSignature: false,
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    root,
  );
  const program = ts.createProgram(files, options);
  return new Map(
    files.map((file) => {
      const source = program.getSourceFile(file);
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      const faults = found.map((one) => {
        const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(one.start ?? 0).line + 1;
        return `line ${line}: ${ts.flattenDiagnosticMessageText(one.messageText, '\n')}`;
      });
      return [file, faults];
    }),
  );
}

/**
 * Writes the JavaScript of a block beside it.
 * @param {string} file
 * @param {string} brokerUrl what stands for amqp://localhost
 * @returns {string} the file to run
 */
export function transpile(file, brokerUrl) {
  const code = readFileSync(file, 'utf8').replace(/amqp:\/\/localhost(?=['"`])/g, brokerUrl);
  const { outputText } = ts.transpileModule(code, {
    fileName: file,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  });
  const program = file.replace(/\.ts$/, '.js');
  writeFileSync(program, outputText);
  return program;
}
