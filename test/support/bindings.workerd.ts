/** What the tests in workerd find in `cloudflare:workers`: the Worker from its sources, with the bindings of a deployment. */
import type * as mainModule from "../../worker/index.ts";
import type { WorkspaceObject } from "../../worker/workspace/workspace-object.ts";

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      readonly mainModule: typeof mainModule;
      readonly durableNamespaces: "WorkspaceObject";
    }
    interface Env {
      readonly WORKSPACE: DurableObjectNamespace<WorkspaceObject>;
    }
  }
}
