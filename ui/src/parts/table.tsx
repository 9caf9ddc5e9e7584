/** A table that scrolls by itself where the page is narrow. */
import type { ReactNode } from "react";
import { Scroll } from "./scroll";

export function Table({ caption, heads, children }: { caption: string; heads: string[]; children: ReactNode }) {
  return (
    <Scroll label={caption} className="card">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="border-b border-line text-muted">
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className="px-3 py-2 font-medium whitespace-nowrap">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">{children}</tbody>
      </table>
    </Scroll>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return <tr className="hover:bg-raised/50">{children}</tr>;
}

export function Cell({ children }: { children: ReactNode }) {
  return <td className="px-3 py-2 align-top">{children}</td>;
}
