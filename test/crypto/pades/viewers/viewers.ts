/** Fills forms by programs that we did not write, each as an update of the file. */
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { runTool } from '../../../verifiers/tool.ts';

export const VIEWERS = ['pdf.js', 'poppler', 'mupdf'] as const;
export type Viewer = (typeof VIEWERS)[number];

const folder = mkdtempSync(join(tmpdir(), 'sealwright-viewers-'));
let count = 0;

export interface Filled {
  readonly pdf: Buffer;
  /** Fields that got another value. */
  readonly fields: number;
}

/**
 * Writes `text` into each text field, turns each box, and chooses the second option of each list.
 * @returns undefined where the viewer is not installed or refuses the file
 */
export async function fillWith(viewer: Viewer, pdf: Buffer, text: string): Promise<Filled | undefined> {
  const source = join(folder, `${++count}.pdf`);
  const target = join(folder, `${count}-filled.pdf`);
  writeFileSync(source, pdf);
  if (viewer === 'pdf.js') return await fillInBrowser(pdf, text);
  const isPoppler = viewer === 'poppler';
  const script = join(folder, isPoppler ? 'fill.py' : 'fill.js');
  writeFileSync(script, isPoppler ? POPPLER : MUPDF);
  // This program adds an update only to a file that is there.
  if (!isPoppler) copyFileSync(source, target);
  const { exit, stdout } = isPoppler
    ? // Debian's Python has the bindings, and need not be the first one in the path.
      await runTool('bash', ['-c', 'exec /usr/bin/python3 "$@"', 'bash', script, source, target, text])
    : await runTool('mutool', ['run', script, target, text]);
  const fields = Number(stdout.trim().split('\n').at(-1));
  return exit === 0 && fields > 0 ? { pdf: readFileSync(target), fields } : undefined;
}

async function fillInBrowser(pdf: Buffer, text: string): Promise<Filled | undefined> {
  const task = getDocument({ data: new Uint8Array(pdf), verbosity: 0, isEvalSupported: false });
  const document = await task.promise;
  const named = new Set<string>();
  let fields = 0;
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    for (const widget of await page.getAnnotations({ intent: 'display' })) {
      if (widget.subtype !== 'Widget' || widget.readOnly) continue;
      const value = newValue(widget, text, named);
      if (value === undefined) continue;
      document.annotationStorage.setValue(widget.id, { value });
      fields++;
    }
  }
  const filled = Buffer.from(await document.saveDocument());
  await task.destroy();
  return fields > 0 ? { pdf: filled, fields } : undefined;
}

interface Widget {
  readonly fieldType: string;
  readonly fieldName: string;
  readonly fieldValue: unknown;
  readonly maxLen?: number;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly exportValue?: string;
  readonly options?: readonly { readonly exportValue: string }[];
}

function newValue(widget: Widget, text: string, named: Set<string>): unknown {
  const { fieldType, fieldName, fieldValue, maxLen = 0, options = [] } = widget;
  if (fieldType === 'Tx') return maxLen > 0 ? text.slice(0, maxLen) : text;
  if (fieldType === 'Ch') return options[1]?.exportValue;
  const isFirst = !named.has(fieldName);
  named.add(fieldName);
  // Of the boxes of one field, a browser turns the others off.
  if (widget.checkBox === true) return isFirst && fieldValue !== widget.exportValue;
  return widget.radioButton === true ? isFirst : undefined;
}

const MUPDF = `
var path = scriptArgs[0], text = scriptArgs[1];
var document = new PDFDocument(path), done = 0;
for (var n = 0; n < document.countPages(); ++n) {
  var page = document.loadPage(n), widgets = page.getWidgets();
  for (var i = 0; i < widgets.length; ++i) {
    var widget = widgets[i], type = widget.getFieldType();
    if (widget.getFieldFlags() & 1) continue;
    if (type === 'text') {
      var most = widget.getMaxLen();
      widget.setTextValue(most > 0 ? text.slice(0, most) : text);
      done++;
    } else if (type === 'checkbox' || type === 'radiobutton') {
      widget.toggle();
      done++;
    } else if (type === 'combobox' || type === 'listbox') {
      var options = widget.getOptions();
      if (options.length > 1) {
        widget.setChoiceValue(options[1]);
        done++;
      }
    }
    widget.update();
  }
  page.update();
}
document.save(path, 'incremental');
print(done);
`;

const POPPLER = `
import sys, gi
gi.require_version('Poppler', '0.18')
from gi.repository import Poppler
source, target, text = sys.argv[1:4]
document = Poppler.Document.new_from_file('file://' + source, None)
done = 0
for index in range(document.get_n_pages()):
    for mapping in document.get_page(index).get_form_field_mapping():
        field = mapping.field
        kind = field.get_field_type()
        if field.is_read_only():
            continue
        if kind == Poppler.FormFieldType.TEXT:
            most = field.text_get_max_len()
            field.text_set_text(text[:most] if most > 0 else text)
            done += 1
        elif kind == Poppler.FormFieldType.BUTTON:
            if field.button_get_button_type() != Poppler.FormButtonType.PUSH:
                field.button_set_state(not field.button_get_state())
                done += 1
        elif kind == Poppler.FormFieldType.CHOICE and field.choice_get_n_items() > 1:
            field.choice_unselect_all()
            field.choice_select_item(1)
            done += 1
document.save('file://' + target)
print(done)
`;
