/**
 * Files of the corpus as Ghostscript and LibreOffice write them: archives, versions, tagged documents, forms.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../verifiers/index.ts';
import { type CorpusRecipe, corpusFolder, corpusPath } from './corpus-recipe.ts';

const PAGE =
  '%!\n/Helvetica findfont 20 scalefont setfont 50 500 moveto (Written by Ghostscript) show showpage\n';

/** Names the colour space that PDF/A asks for (ISO 19005-1, 6.2.2), with a profile Ghostscript brings along. */
const INTENT = `%!
[/_objdef {icc} /type /stream /OBJ pdfmark
[{icc} << /N 3 >> /PUT pdfmark
[{icc} currentuserparams /ICCProfilesDir get (default_rgb.icc) concatstrings (r) file /PUT pdfmark
[/_objdef {intent} /type /dict /OBJ pdfmark
[{intent} << /Type /OutputIntent /S /GTS_PDFA1 /DestOutputProfile {icc} /OutputConditionIdentifier (sRGB) >> /PUT pdfmark
[{Catalog} << /OutputIntents [ {intent} ] >> /PUT pdfmark
`;

function byGhostscript(name: string, ...options: readonly string[]): CorpusRecipe {
  return {
    name,
    tools: ['gs'],
    make: async () => {
      const page = corpusPath('page.ps');
      const intent = corpusPath('intent.ps');
      const output = corpusPath('out.pdf');
      writeFileSync(page, PAGE);
      writeFileSync(intent, options.some((option) => option.startsWith('-dPDFA')) ? INTENT : '%!\n');
      const common = ['-q', '-dNOSAFER', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite'];
      const { exit, stdout } = await runTool('gs', [
        ...common,
        ...options,
        `-sOutputFile=${output}`,
        intent,
        page,
      ]);
      if (exit !== 0) throw new Error(`gs ended with ${exit}: ${stdout}`);
      return readFileSync(output);
    },
  };
}

const ARCHIVE = ['-dPDFACompatibilityPolicy=1', '-sColorConversionStrategy=RGB'];

const TEXT = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:body><office:text>
<office:forms><form:form form:name="F"><form:text form:name="Name" xml:id="c1" form:id="c1"
 form:control-implementation="ooo:com.sun.star.form.component.TextField"/></form:form></office:forms>
<text:h text:outline-level="1">Agreement</text:h><text:p>Between you and us.</text:p>
<text:p><draw:control text:anchor-type="as-char" svg:width="5cm" svg:height="1cm" draw:control="c1"/></text:p>
</office:text></office:body></office:document>
`;

interface OfficeChoice {
  readonly [name: string]: number | boolean | string;
}

/** One office at a time: two with the same profile take orders from each other. */
let officeIsFree: Promise<unknown> = Promise.resolve();

function byOffice(name: string, choice: OfficeChoice, kind: 'writer' | 'calc' = 'writer'): CorpusRecipe {
  return {
    name,
    tools: ['soffice'],
    make: async () => {
      const folder = corpusPath('office');
      mkdirSync(folder);
      const input = join(folder, kind === 'writer' ? 'text.fodt' : 'table.csv');
      writeFileSync(input, kind === 'writer' ? TEXT : 'name;sum\na;1\nb;2\n');
      const data = Object.entries(choice).map(([key, value]) => {
        const type = { number: 'long', boolean: 'boolean', string: 'string' }[typeof value as 'number'];
        return [key, { type, value: String(value) }];
      });
      const order = [
        // A profile of its own: a running office would otherwise take the order, and answer for itself.
        `-env:UserInstallation=file://${join(corpusFolder, 'profile')}`,
        '--headless',
        '--convert-to',
        `pdf:${kind}_pdf_Export:${JSON.stringify(Object.fromEntries(data))}`,
        '--outdir',
        folder,
        input,
      ];
      const run = officeIsFree.then(() => runTool('soffice', order));
      officeIsFree = run.catch(() => undefined);
      const { stderr } = await run;
      try {
        return readFileSync(input.replace(/\.\w+$/, '.pdf'));
      } catch (cause) {
        throw new Error(`soffice wrote nothing: ${stderr}`, { cause });
      }
    },
  };
}

/** A PDF/A, and the part of ISO 19005 it says it conforms to. */
export interface Archive {
  readonly part: 1 | 2 | 3;
  readonly recipe: CorpusRecipe;
}

export const ARCHIVE_PARTS: readonly Archive[] = ([1, 2, 3] as const).flatMap((part) => [
  { part, recipe: byGhostscript(`for archives, part ${part}, by Ghostscript`, `-dPDFA=${part}`, ...ARCHIVE) },
  { part, recipe: byOffice(`for archives, part ${part}, by LibreOffice`, { SelectPdfVersion: part }) },
]);

export const ARCHIVES: readonly CorpusRecipe[] = ARCHIVE_PARTS.map(({ recipe }) => recipe);

export const OFFICE_FILES: readonly CorpusRecipe[] = [
  ...['1.3', '1.4', '1.5', '1.6', '1.7', '2.0'].map((version) =>
    byGhostscript(`of version ${version} by Ghostscript`, `-dCompatibilityLevel=${version}`),
  ),
  byOffice('with tags by LibreOffice', { UseTaggedPDF: true }),
  byOffice('with a form by LibreOffice', { ExportFormFields: true }),
  byOffice('of a table by LibreOffice', {}, 'calc'),
  byOffice('encrypted by LibreOffice', {
    RestrictPermissions: true,
    PermissionPassword: 'owner',
    Changes: 4,
  }),
];
