/**
 * Writes web/components/icons.ts: the paths of the icons that the pages use, from the package lucide-static.
 *
 * node scripts/write-icons.mjs [--check]   --check compares only; exit 1 when the file differs
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Names in the package. Add the one that a page needs, then run this script. */
const NAMES = [
  'arrow-down',
  'arrow-left',
  'arrow-up',
  'badge-check',
  'ban',
  'bell',
  'building-2',
  'calendar',
  'case-sensitive',
  'check',
  'chevron-left',
  'chevron-right',
  'circle-alert',
  'circle',
  'circle-check',
  'clock',
  'clock-alert',
  'code',
  'copy',
  'download',
  'ellipsis',
  'eye',
  'feather',
  'file-diff',
  'file-search',
  'file-signature',
  'file-stack',
  'file-x',
  'folder',
  'folder-input',
  'hash',
  'hourglass',
  'inbox',
  'layout-dashboard',
  'layout-template',
  'link',
  'link-2-off',
  'list',
  'log-out',
  'mail',
  'mail-warning',
  'minus',
  'octagon-alert',
  'palette',
  'paperclip',
  'pause',
  'pen-line',
  'play',
  'plug',
  'plus',
  'redo-2',
  'rotate-cw',
  'search',
  'send',
  'server',
  'shield-check',
  'signature',
  'sliders-horizontal',
  'square-check',
  'text-cursor-input',
  'trash-2',
  'triangle-alert',
  'undo-2',
  'upload',
  'users',
  'webhook',
  'workflow',
  'x',
];

/** Without what the formatter decides. */
const plain = (source) => source.replaceAll(/\s+/g, ' ');

const root = join(import.meta.dirname, '..');
const target = join(root, 'web', 'components', 'icons.ts');
const icons = join(dirname(createRequire(import.meta.url).resolve('lucide-static/package.json')), 'icons');

const entries = NAMES.map((name) => {
  const svg = readFileSync(join(icons, `${name}.svg`), 'utf8');
  const inner = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(svg)?.[1] ?? '';
  const text = inner.replaceAll(/\s*\n\s*/g, '').replaceAll(' />', '/>');
  const key = /^[a-z]+$/.test(name) ? name : `'${name}'`;
  return `  ${key}: '${text}',`;
});
const text = `/** Icons of the pages: inner SVG of 24 x 24. Written by scripts/write-icons.mjs from lucide-static (ISC license). */
export const ICONS = {
${entries.join('\n')}
} as const;

export type IconName = keyof typeof ICONS;
`;
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (plain(readFileSync(target, 'utf8')) !== plain(text)) {
  console.error('web/components/icons.ts is not what scripts/write-icons.mjs writes. Run it.');
  process.exitCode = 1;
}
