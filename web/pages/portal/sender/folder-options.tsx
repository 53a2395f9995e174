/** Options of a choice of folders. */

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
