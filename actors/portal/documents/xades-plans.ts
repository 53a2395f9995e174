/** Validates the XAdES options of a flow action. Source: docs/portal-values.md §6. */
import { describeFailure } from '@sealwright/runtime';
import { assertElementPath } from '@sealwright/signatures';
import type { NewFlowAction } from '../../../contracts/portal/flow.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ActionPlan, XadesOptions, XmlNamespace } from '../../../machines/portal/portal-types.ts';
import type { CreateDocuments } from '../api/documents.ts';

const MAX_NAMESPACE = 1000;

/** Parses namespaces; an entry without a prefix or without a URI is ignored. Refusals: `InvalidFlowAction`. */
export function planNamespaces(input: CreateDocuments['xmlNamespaces']): readonly XmlNamespace[] {
  const named = (input ?? []).flatMap(({ prefix, uri }): readonly XmlNamespace[] => {
    const bare = prefix?.trim();
    return bare && uri ? [{ prefix: bare, uri }] : [];
  });
  if (named.some(({ prefix, uri }) => Math.max(prefix.length, uri.length) > MAX_NAMESPACE))
    throw invalid(`A prefix or namespace is longer than ${MAX_NAMESPACE} characters.`);
  return named;
}

/**
 * Fills omitted options with the defaults of signing. Refusals: `InvalidFlowAction`.
 * @param namespaces of the document
 */
export function planXadesOptions(
  input: NewFlowAction['xadesOptions'],
  namespaces: readonly XmlNamespace[],
): XadesOptions | null {
  if (!input) return null;
  const options: XadesOptions = {
    signatureType: input.signatureType ?? 'FullXml',
    elementToSignIdentifierType: input.elementToSignIdentifierType ?? null,
    elementToSignIdentifier: input.elementToSignIdentifier?.trim() || null,
    insertionOption: input.insertionOption ?? null,
    disableXPathTransformation: input.disableXPathTransformation ?? false,
  };
  if (options.signatureType !== 'XmlElement') {
    if (isBeside(options))
      throw invalid('A signature over a whole XML document cannot stand beside its root element.');
    return options;
  }
  const { elementToSignIdentifier: identifier, elementToSignIdentifierType: type } = options;
  if (identifier === null) throw invalid('elementToSignIdentifier says which element an XmlElement signs.');
  if (type !== 'XPath') return options;
  assertPath(identifier);
  return namespaces.length === 0 ? options : { ...options, xmlNamespaces: namespaces };
}

function assertPath(path: string): void {
  try {
    assertElementPath(path);
  } catch (error) {
    throw invalid(describeFailure(error).message);
  }
}

type SigningAction = Pick<ActionPlan, 'type' | 'numberRequiredSignatures' | 'xadesOptions'>;

/**
 * Asserts that the signatures of one XML document do not invalidate each other: without an XPath transform, a signature
 * covers the signatures within its scope, and later ones would break it. Refusals: `InvalidFlowAction`.
 */
export function assertSignaturesCoexist(actions: readonly SigningAction[]): void {
  const signing = actions.filter(({ type }) => type === 'Signer' || type === 'SignRule');
  const signatures = signing.flatMap((action) =>
    new Array<XadesOptions | null>(action.numberRequiredSignatures).fill(action.xadesOptions),
  );
  if (signatures.length < 2) return;
  signatures.forEach((options, index) => {
    if (options?.disableXPathTransformation !== true) return;
    if (options.signatureType !== 'XmlElement' || (options.insertionOption !== null && !isBeside(options)))
      throw invalid(
        'With disableXPathTransformation, a signature that stands in what it signs takes a document with one signer: the next signature would break it.',
      );
    const { elementToSignIdentifier: identifier } = options;
    if (signatures.some((other, at) => at !== index && other?.elementToSignIdentifier === identifier))
      throw invalid('With disableXPathTransformation, an element is signed by one signer.');
  });
}

function isBeside({ insertionOption }: XadesOptions): boolean {
  return insertionOption === 'AppendSibling' || insertionOption === 'PrependSibling';
}

function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidFlowAction', message.replace(/[^ -~]/g, '?'));
}
