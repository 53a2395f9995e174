/**
 * Moves, duplicates and replaces the parts of signed files at random (XML elements, PDF objects, container members),
 * and detects changed documents that pass validation.
 */
import { rmSync } from 'node:fs';
import { signAsic } from '#crypto/asic/sign.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import {
  facts,
  file,
  type HandMade,
  handMade,
  twoInputs,
  unpacked,
} from '../crypto/asic/container-harness.ts';
import { haveSameData } from '../crypto/asic/moved-members.ts';
import {
  bodyOf,
  contract,
  reportOn as reportOnPdf,
  signed,
} from '../crypto/pades/validation/attack-files.ts';
import { appendRevision } from '../crypto/pdf/build.ts';
import { DS, enveloped, forge, reportOn as reportOnXml } from '../crypto/xades/forging.ts';
import { pki } from '../pki/pki.ts';
import type { Random } from './random.ts';

export interface Tried {
  /** Description of the changes, for messages. */
  readonly description: string;
  /** True when the result passes although it differs from the signed document. */
  readonly accepted: boolean;
}

type Target = (random: Random) => Tried;

/** Ranges of the elements of a document without comments and CDATA sections. */
function elementsOf(text: string): { readonly start: number; readonly end: number }[] {
  const open: number[] = [];
  const found: { start: number; end: number }[] = [];
  for (const { 0: tag, index } of text.matchAll(/<[^>]+>/g)) {
    if (tag.startsWith('</')) found.push({ start: open.pop() ?? 0, end: index + tag.length });
    else if (tag.endsWith('/>')) found.push({ start: index, end: index + tag.length });
    else open.push(index);
  }
  return found;
}

/** Moves, copies, or replaces one element by another one. */
function rearranged(text: string, random: Random): { readonly text: string; readonly how: string } {
  const elements = elementsOf(text);
  const from = random.pick(elements);
  const to = random.pick(elements);
  const part = text.slice(from.start, from.end);
  const at = random.pick([to.start, to.end]);
  const without = (range: { readonly start: number; readonly end: number }, content: string): string =>
    text.slice(0, range.start) + content + text.slice(range.end);
  switch (random.below(4)) {
    case 0:
      return { how: `copied ${from.start} to ${at}`, text: text.slice(0, at) + part + text.slice(at) };
    case 1:
      return { how: `replaced ${to.start} by ${from.start}`, text: without(to, part) };
    case 2: {
      const changed = part.replace(/>100</, '>999<');
      return {
        how: `changed a copy of ${from.start} at ${at}`,
        text: text.slice(0, at) + changed + text.slice(at),
      };
    }
    default: {
      if (at > from.start && at < from.end) return { how: 'nothing', text };
      const hole = without(from, '');
      const place = at <= from.start ? at : at - part.length;
      return { how: `moved ${from.start} to ${at}`, text: hole.slice(0, place) + part + hole.slice(place) };
    }
  }
}

const passes = ({ indication }: ValidationReport): boolean => indication === 'TOTAL-PASSED';

/** A document signed as a whole: without its signature, it must equal the signed one. */
const envelopedXml: Target = (random) => {
  const honest = enveloped('<pay Id="p">100</pay><note>a</note>');
  let text = honest;
  const done: string[] = [];
  for (let step = 0; step <= random.below(3); step++) {
    const next = rearranged(text, random);
    text = next.text;
    done.push(next.how);
  }
  const content = text.replace(/<ds:Signature .*<\/ds:Signature>/s, '');
  const same = content === honest.replace(/<ds:Signature .*<\/ds:Signature>/s, '');
  return {
    description: `enveloped: ${done.join(', ')}: ${text}`,
    accepted: passes(reportOnXml(text)) && !same,
  };
};

/** An enveloped document: the object in its position must equal the signed one. */
const envelopingXml: Target = (random) => {
  const object = `<ds:Object xmlns:ds="${DS}" Id="o"><pay>100</pay></ds:Object>`;
  const references = [{ uri: '#o', type: `${DS}Object`, data: object }];
  const { how, text } = rearranged(forge({ references, objects: object }), random);
  const report = reportOnXml(text);
  const warned = report.signatures.some(({ results }) => results.warnings.length > 0);
  const whole = /<\/ds:KeyInfo>(<ds:Object.*<\/ds:Object>)<\/ds:Signature>$/s.exec(text)?.[1] ?? '';
  const isThere = whole.includes(object) && !whole.includes('999');
  return { description: `enveloping: ${how}: ${text}`, accepted: passes(report) && !isThere && !warned };
};

/** Rewrites objects of a signed PDF with the values of others, or with another text. */
function pdfTarget(): Target {
  const pdf = signed(contract());
  const numbers = [1, 2, 3, 7, 8, 10, 11, 12, 13, 30, 31];
  return (random) => {
    const from = random.pick(numbers);
    const to = random.pick(numbers);
    const free = 150 + random.below(3);
    const body = bodyOf(pdf, from).replace('(Pay 100', random.below(2) === 0 ? '(Pay 100' : '(Pay 999');
    const objects = new Map([[random.below(5) === 0 ? free : to, body]]);
    if (random.below(2) === 0) objects.set(random.pick(numbers), bodyOf(pdf, random.pick(numbers)));
    const changed = [...objects].filter(([number, value]) => number < 150 && value !== bodyOf(pdf, number));
    const report = reportOnPdf(appendRevision(pdf, objects));
    const description = `PDF: ${[...objects].map(([number, value]) => `${number} = ${value}`).join('; ')}`;
    return { description, accepted: passes(report) && changed.length > 0 };
  };
}

/** Copies, exchanges, renames, removes or rewrites members of a container. */
async function containerTarget(format: 'Cades' | 'Xades'): Promise<Target> {
  const path = file(undefined, 'asice');
  const signer = pki().signer('p-256');
  await signAsic({ kind: 'E', format, inputs: twoInputs(), output: path, signer, at: Date.now() }, {});
  const honest = unpacked(path);
  return (random) => {
    const members = [...honest];
    const done: string[] = [];
    for (let step = 0; step <= random.below(3); step++) done.push(changeMember(members, random));
    const changed = file(handMade(members), 'asice');
    const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
    const report = validateSignatures('Asic', facts(changed), { trust, at: Date.now() });
    rmSync(changed);
    const isSame = haveSameData(honest, members, true);
    return { description: `container: ${done.join(', ')}`, accepted: passes(report) && !isSame };
  };
}

function changeMember(members: HandMade[], random: Random): string {
  const from = random.below(members.length);
  const to = random.below(members.length);
  const one = members[from];
  const other = members[to];
  if (one === undefined || other === undefined) return 'nothing';
  switch (random.below(6)) {
    case 0:
      members.push(one);
      return `copied ${one.name}`;
    case 1:
      members[to] = { ...other, bytes: one.bytes };
      return `replaced ${other.name} by ${one.name}`;
    case 2:
      members[from] = { ...one, name: other.name };
      members[to] = { ...other, name: one.name };
      return `exchanged the names of ${one.name} and ${other.name}`;
    case 3:
      members[from] = { ...one, name: `META-INF/${one.name.replace('META-INF/', '')}` };
      return `moved ${one.name} below META-INF`;
    case 4:
      if (members.length > 1) members.splice(from, 1);
      return `removed ${one.name}`;
    default: {
      const bytes = Buffer.from(one.bytes.toString('latin1').replace(/hundred|barrels/, 'nothing'), 'latin1');
      members.splice(random.below(members.length + 1), 0, { ...one, bytes });
      return `added a changed copy of ${one.name}`;
    }
  }
}

/** Lists the targets; they share one process and its temporary folder. */
export async function signedPartTargets(): Promise<readonly Target[]> {
  const containers = await Promise.all([containerTarget('Cades'), containerTarget('Xades')]);
  return [envelopedXml, envelopingXml, pdfTarget(), ...containers];
}
