/** Definitions that somebody proposed, in a list. */
import { Link } from "@tanstack/react-router";
import type { DraftSummary } from "../api/queries";
import { Cell, Row, Table } from "../parts/table";
import { Ago } from "../parts/time";

export function Drafts({ all }: { all: DraftSummary[] }) {
  return (
    <section aria-label="Definitions" className="mb-6">
      <h2 className="mb-2 font-semibold">Definitions</h2>
      <Table caption="Definitions that were proposed" heads={["Definition", "File", "By", "Proposed"]}>
        {all.map(({ namespace, name, file, by, at }) => (
          <Row key={`${namespace}/${name}`}>
            <Cell>
              <Link to="/drafts/$namespace/$name" params={{ namespace, name }} className="link">
                Define pipeline {namespace}/{name}
              </Link>
            </Cell>
            <Cell>
              <span className="font-mono">{file}</span>
            </Cell>
            <Cell>{by}</Cell>
            <Cell>
              <Ago at={at} />
            </Cell>
          </Row>
        ))}
      </Table>
    </section>
  );
}
