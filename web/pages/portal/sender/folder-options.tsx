/** Choice of a folder, and the name of a new one. */
import { Field } from '../../../components/controls.tsx';

/** Folders that a page offers, the first by name. */
export const FOLDERS_OFFERED = 1_000;

export function FolderOptions({
  folders,
  chosen,
  more,
}: {
  folders: readonly { readonly id: string; readonly name: string }[];
  chosen: string | null;
  /** Says that others are not listed. */
  more: string;
}) {
  return (
    <>
      {folders.map(({ id, name }) => (
        <option key={id} value={id} selected={id === chosen}>
          {name}
        </option>
      ))}
      {folders.length >= FOLDERS_OFFERED && <option disabled>{more}</option>}
    </>
  );
}

/** Fields of a dialog that moves documents. */
export function FolderFields({
  texts,
  fault,
  ...options
}: Omit<Parameters<typeof FolderOptions>[0], 'more'> & {
  texts: {
    readonly folder: string;
    readonly noFolder: string;
    readonly otherFolders: string;
    readonly newFolder: string;
  };
  fault: { readonly field?: string | undefined; readonly text: string } | undefined;
}) {
  return (
    <>
      <label>
        {texts.folder}
        <select name="folderId" aria-invalid={fault?.field === 'folderId' ? 'true' : undefined}>
          <option value="">{texts.noFolder}</option>
          <FolderOptions {...options} more={texts.otherFolders} />
        </select>
      </label>
      <Field
        id="new-folder"
        name="newFolderName"
        label={texts.newFolder}
        maxLength={100}
        error={fault?.text}
      />
    </>
  );
}
