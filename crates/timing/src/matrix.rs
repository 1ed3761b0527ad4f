//! Symmetric positive definite matrices.

/// The lower triangle L of A = L Lᵀ (Cholesky).
pub(crate) struct Triangle {
    rows: Vec<Vec<f64>>,
}

impl Triangle {
    /// `matrix` is symmetric and positive definite: a sum of squares and a positive diagonal.
    pub(crate) fn of(matrix: &[Vec<f64>]) -> Triangle {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(matrix.len());
        for (i, line) in matrix.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for j in 0..=i {
                let known: f64 = (0..j)
                    .map(|k| row[k] * rows.get(j).map_or(row[k], |other| other[k]))
                    .sum();
                let rest = line[j] - known;
                row.push(if i == j { rest.sqrt() } else { rest / rows[j][j] });
            }
            rows.push(row);
        }
        Triangle { rows }
    }

    /// x of A x = `right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let mut x = self.below(right);
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| self.rows[k][i] * x[k]).sum();
            x[i] = (x[i] - known) / self.rows[i][i];
        }
        x
    }

    /// vᵀ A⁻¹ v.
    pub(crate) fn inverse_form(&self, v: &[f64]) -> f64 {
        self.below(v).iter().map(|y| y * y).sum()
    }

    /// y of L y = `right`.
    fn below(&self, right: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(right.len());
        for (row, b) in self.rows.iter().zip(right) {
            let known: f64 = row.iter().zip(&y).map(|(a, y)| a * y).sum();
            y.push((b - known) / row[y.len()]);
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = [vec![4.0, 2.0, 0.4], vec![2.0, 5.0, 1.0], vec![0.4, 1.0, 3.0]];
        let triangle = Triangle::of(&matrix);
        let x = triangle.solve(&[1.0, -2.0, 3.0]);
        for (line, right) in matrix.iter().zip([1.0, -2.0, 3.0]) {
            let got: f64 = line.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((got - right).abs() < 1e-12, "{got} for {right}");
        }
        let form: f64 = x.iter().zip([1.0, -2.0, 3.0]).map(|(x, b)| x * b).sum();
        assert!((triangle.inverse_form(&[1.0, -2.0, 3.0]) - form).abs() < 1e-12);
    }
}
