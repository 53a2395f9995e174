/**
 * Data that an archive time-stamp of a signature in a document covers (EN 319 132-1 §5.5.2): all signed data, parts
 * of the signature, the unsigned properties before the time-stamp, and the other objects.
 */
import type { ByteSink, CanonicalMethod } from '../../xml/index.ts';
import { DS, XADES } from '../elements/identifiers.ts';
import { type DataRoom, type FoundData, writeData, writeNode } from './reference-data.ts';
import { childrenNamed, type SignatureNode } from './signature-node.ts';

/**
 * Writes the covered data up to and including the existing unsigned properties.
 * @param references data of each reference of SignedInfo, in order
 * @param unsigned the properties before the time-stamp
 * @throws {DataFault}
 */
export function writeArchivedStart(
  room: DataRoom,
  signature: SignatureNode,
  references: readonly FoundData[],
  unsigned: readonly SignatureNode[],
  method: CanonicalMethod,
  sink: ByteSink,
): void {
  for (const data of references) writeData(room, data, signature, sink, method);
  for (const local of ['SignedInfo', 'SignatureValue', 'KeyInfo']) {
    for (const node of childrenNamed(signature, DS, local)) writeNode(room, node, method, sink);
  }
  for (const property of unsigned) writeNode(room, property, method, sink);
}

/**
 * Writes the objects after the unsigned properties: every object except the one with the qualifying properties.
 * @throws {DataFault}
 */
export function writeArchivedObjects(
  room: DataRoom,
  signature: SignatureNode,
  method: CanonicalMethod,
  sink: ByteSink,
): void {
  for (const object of childrenNamed(signature, DS, 'Object')) {
    if (childrenNamed(object, XADES, 'QualifyingProperties').length === 0)
      writeNode(room, object, method, sink);
  }
}
