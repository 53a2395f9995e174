/** PDFs with tags in their text, and the flow that the tags name. */
import { classicPdf, documentObjects, stream } from '../../../crypto/pdf/build.ts';

/** Width and height of the page. */
export const PAGE = 500;

/** A PDF of one page with these operators of text. */
export function pdf(text: string, entries = '') {
  const objects = documentObjects();
  const page = (objects.get(10) ?? '').replace('[0 0 200 200]', `[0 0 ${PAGE} ${PAGE}]${entries}`);
  objects.set(10, page);
  objects.set(11, stream('', `BT /F1 12 Tf ${text} ET`));
  return { name: 'tags.pdf', content: classicPdf(objects), type: 'application/pdf' };
}

export const at = (x: number, y: number, text: string) => `1 0 0 1 ${x} ${y} Tm (${text}) Tj`;

export const ana = (more: object = {}) => ({
  title: 'Buyer',
  user: { name: 'Ana Souza', email: 'ana@example.org' },
  allowElectronicSignature: true,
  step: 1,
  ...more,
});
export const bob = (more: object = {}) => ({
  user: { name: 'Bob', email: 'bob@example.org' },
  allowElectronicSignature: true,
  step: 2,
  ...more,
});

interface Place {
  readonly topLeftX: number;
  readonly topLeftY: number;
  readonly width: number;
  readonly height: number;
  readonly pageNumber: number;
}

export interface Detail {
  readonly status: string;
  readonly flowActions: readonly {
    readonly id: string;
    readonly marks: readonly (Place & { readonly type: string })[];
    readonly fields?: readonly (Place & {
      readonly name: string;
      readonly type: string;
      readonly required: boolean;
      readonly maxLength: number;
    })[];
  }[];
}
