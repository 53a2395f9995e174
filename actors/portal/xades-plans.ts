/** How an XML document is to be signed: what a caller asks of one flow action, checked. Source: portal-gaps §6. */
import { assertElementPath } from '../../crypto/index.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActionPlan, XadesOptions, XmlNamespace } from '../../machines/portal-words.ts';
import { describeFailure } from '../../runtime/index.ts';
import type { CreateDocuments, FlowActionInput } from './api.ts';

/** Of one document. */
const MOST_NAMESPACES = 50;
const LONGEST_NAMESPACE = 1000;

/** A prefix or a namespace of a document that was given without the other says nothing. Refusals: `LimitExceeded`. */
export function planNamespaces(input: CreateDocuments['xmlNamespaces']): readonly XmlNamespace[] {
  const named = (input ?? []).flatMap(({ prefix, uri }): readonly XmlNamespace[] => {
    const bare = prefix?.trim();
    return bare && uri ? [{ prefix: bare, uri }] : [];
  });
  if (named.length > MOST_NAMESPACES)
    throw new PortalRefusal('LimitExceeded', `A document takes at most ${MOST_NAMESPACES} XML namespaces.`);
  if (named.some(({ prefix, uri }) => Math.max(prefix.length, uri.length) > LONGEST_NAMESPACE))
    throw invalid(`A prefix or namespace is longer than ${LONGEST_NAMESPACE} characters.`);
  return named;
}

/**
 * What a caller leaves out is what signing does by itself. Refusals: `InvalidFlowAction`.
 * @param namespaces of the document
 */
export function planXadesOptions(
  input: FlowActionInput['xadesOptions'],
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
 * That no signature of one XML document breaks another, as far as what is asked tells: without an XPath transform a
 * signature is over the signatures that stand in what it is over, and later ones would break it.
 * Refusals: `InvalidFlowAction`.
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
