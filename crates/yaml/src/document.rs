//! Where a path leads in a parsed file.

use crate::{
    DocumentFilter, Error, Location, NotAValue, Path,
    path::Step,
    tree::{Kind, Role, Tree},
};

/// The node at a location: there must be exactly one.
pub(crate) fn locate(tree: &Tree<'_>, location: &Location) -> Result<usize, Error> {
    let Location { documents, path, .. } = location;
    let roots: Vec<usize> = (0..tree.nodes.len())
        .filter(|&number| tree.nodes[number].role == Role::Root && fits(tree, number, documents))
        .collect();
    if roots.is_empty() {
        return Err(Error::NoDocument { path: path.clone() });
    }
    let mut found = Vec::new();
    for root in roots {
        found.extend(follow(tree, root, path)?);
    }
    one(tree, path, &found)?.ok_or_else(|| Error::NotFound { path: path.clone() })
}

fn fits(tree: &Tree<'_>, root: usize, filter: &DocumentFilter) -> bool {
    let says = |keys: &[&str], wanted: &Option<String>| {
        wanted.as_deref().is_none_or(|wanted| {
            let node = keys.iter().try_fold(root, |node, key| values(tree, node, key).next());
            node.and_then(|node| tree.scalar(node)) == Some(wanted)
        })
    };
    filter.index.is_none_or(|index| index == tree.nodes[root].document)
        && says(&["kind"], &filter.kind)
        && says(&["metadata", "name"], &filter.name)
        && says(&["metadata", "namespace"], &filter.namespace)
}

fn follow(tree: &Tree<'_>, root: usize, path: &Path) -> Result<Option<usize>, Error> {
    let mut node = root;
    for step in path.steps() {
        if tree.nodes[node].kind == Kind::Alias {
            return Err(Error::NotAValue { place: tree.place(node), found: NotAValue::Alias });
        }
        let found: Vec<usize> = match step {
            Step::Key(key) => values(tree, node, key).collect(),
            Step::Index(index) => items(tree, node).nth(*index).into_iter().collect(),
            Step::Item { key, value } => {
                let has = |&item: &usize| values(tree, item, key).any(|node| tree.scalar(node) == Some(value));
                items(tree, node).filter(has).collect()
            }
        };
        match one(tree, path, &found)? {
            Some(next) => node = next,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

fn one(tree: &Tree<'_>, path: &Path, found: &[usize]) -> Result<Option<usize>, Error> {
    match *found {
        [first, second, ..] => {
            Err(Error::Ambiguous { path: path.clone(), first: tree.place(first), second: tree.place(second) })
        }
        _ => Ok(found.first().copied()),
    }
}

fn values<'a>(tree: &'a Tree<'_>, map: usize, key: &'a str) -> impl Iterator<Item = usize> + 'a {
    let keys =
        tree.children(map).filter(move |&child| tree.nodes[child].role == Role::Key && tree.scalar(child) == Some(key));
    keys.filter_map(|key| tree.value_of(key))
}

fn items<'a>(tree: &'a Tree<'_>, sequence: usize) -> impl Iterator<Item = usize> + 'a {
    tree.children(sequence).filter(|&child| matches!(tree.nodes[child].role, Role::Item(_)))
}
