/** A part of a page that the server renders and the browser brings to life (web/client/islands.tsx), with the same component. */
import type { ComponentType, VNode } from 'preact';

/** Renders a component in a place where the script of the page finds it, with its properties beside it. */
export function Island<Props extends object>({
  name,
  of: Component,
  props,
  needsScript = false,
}: {
  name: string;
  of: ComponentType<Props>;
  props: Props;
  /** It is hidden until the script brings it to life. @default false */
  needsScript?: boolean;
}): VNode {
  return (
    <div data-island={name} data-props={JSON.stringify(props)} hidden={needsScript}>
      <Component {...props} />
    </div>
  );
}
