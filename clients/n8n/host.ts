/**
 * What the node uses of the program that runs it. These are the types of `n8n-workflow` as far as they matter here: that package brings 400 others, and
 * a node needs none of its code. `scripts/clients/check-n8n.mjs` compiles the node against the real types, and runs it there.
 */

/** A field of a form: `type` decides what the person sees. */
export interface Property {
  displayName: string;
  name: string;
  type: 'boolean' | 'collection' | 'fixedCollection' | 'number' | 'options' | 'string';
  default: boolean | number | string | { [name: string]: never };
  description?: string;
  placeholder?: string;
  required?: boolean;
  noDataExpression?: boolean;
  typeOptions?: { password?: boolean; multipleValues?: boolean; minValue?: number; maxValue?: number };
  displayOptions?: { show: { [name: string]: string[] } };
  options?: (Property | Option | Group)[];
}

export interface Option {
  name: string;
  value: string;
  description?: string;
  action?: string;
}

/** Fields that are repeated together. */
export interface Group {
  displayName: string;
  name: string;
  values: Property[];
}

/** This and the next are no interfaces: the host takes more members. */
export type Item = {
  json: { [name: string]: boolean | number | object | string | null | undefined };
  binary?: { [name: string]: BinaryFile };
  pairedItem?: { item: number };
};

export type BinaryFile = { fileName?: string; mimeType: string; data: string };

/** `this` of the function that runs the node. */
export interface Execution {
  getInputData(): readonly object[];
  getNodeParameter(name: string, item: number, fallback?: unknown): unknown;
  getCredentials<Values extends object>(name: string, item?: number): Promise<Values>;
  evaluateExpression(expression: string, item: number): unknown;
  continueOnFail(): boolean;
  isToolExecution?(): boolean;
  getExecutionId(): string;
  getExecutionCancelSignal(): AbortSignal | undefined;
  getNode(): { id: string };
  getWorkflow(): { id?: string | undefined };
  readonly helpers: {
    assertBinaryData(item: number, name: string): BinaryFile;
    getBinaryDataBuffer(item: number, name: string): Promise<Buffer>;
    prepareBinaryData(content: Buffer, name?: string, type?: string): Promise<BinaryFile>;
  };
}
